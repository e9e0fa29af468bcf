import type { Effect, MailEffect, RowEffect } from '../domain/effect.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { Operation, OperationProblem, ToldState } from '../domain/operation.ts';
import type { Message, TrialRecord } from '../domain/record.ts';
import type { ShownPart } from '../domain/rubric.ts';

/** What a rater is shown of a trial: the parts that the rubric names, and nothing that says who acted, what it was called, or what others think of it. Null: the rubric does not show it. */
export interface Material {
  readonly conversation: readonly MaterialMessage[] | null;
  /** What the agent said last; null as well where it said nothing. */
  readonly answer: MaterialMessage | null;
  readonly operations: readonly MaterialOperation[] | null;
  readonly effects: readonly MaterialEffect[] | null;
  readonly mail: readonly MaterialMail[] | null;
  /** What of the record was removed since: by its age, or on a person's wish. */
  readonly removed: readonly ('conversation' | 'subject')[];
}

export interface MaterialMessage {
  /** `user`, `agent`, or of a team `agent 1`, `agent 2`, in the order in which its members come in. */
  readonly from: string;
  readonly text: string;
  /** The structured answer, where one was given. */
  readonly data: JsonObject | null;
}

/** A call as the agent made it and was told of it. */
export interface MaterialOperation {
  readonly seq: number;
  readonly by: string;
  readonly tool: string;
  readonly args: Json;
  readonly told: ToldState;
  readonly problem: OperationProblem | null;
  readonly result: Json | null;
}

/** A change of a row. */
export interface MaterialEffect extends Pick<RowEffect, 'table' | 'change' | 'key' | 'before' | 'after'> {
  /** The call that caused it, by its number; null: none did. */
  readonly call: number | null;
  /** Somebody else did it, as the case or its fault schedule has it. */
  readonly byOthers: boolean;
}

/** A mail, with the mailboxes that took it. */
export interface MaterialMail extends Pick<MailEffect, 'accepted' | 'from' | 'subject' | 'text' | 'attachments'> {
  readonly call: number | null;
  readonly to: readonly string[];
  /** Mailboxes that the server refused. */
  readonly refused: readonly string[];
}

/** What a rater is shown of a record, by what its rubric shows. A pure function. */
export function materialOf(record: TrialRecord, shows: readonly ShownPart[]): Material {
  const shown = new Set(shows);
  const names = membersOf(record);
  const said = ({ from, actor, text, data = null }: Message): MaterialMessage => ({ from: from === 'user' ? 'user' : names(actor), text, data });
  // A question of the agent in between is no answer.
  const last = record.messages.findLast(({ from, operation }) => from === 'agent' && operation === undefined);
  const calls = new Map(record.operations.map(({ id, seq }) => [id, seq]));
  const callOf = ({ operation }: Effect): number | null => (operation === null ? null : (calls.get(operation) ?? null));
  return {
    conversation: shown.has('conversation') ? record.messages.map(said) : null,
    answer: shown.has('answer') && last !== undefined ? said(last) : null,
    operations: shown.has('operations') ? record.operations.map((operation) => operationOf(operation, names(operation.actor))) : null,
    effects: shown.has('effects')
      ? record.effects.flatMap((effect) => {
          if (effect.kind !== 'row') return [];
          const { table, change, key, before, after, byFault } = effect;
          return [{ call: callOf(effect), table, change, key, before, after, byOthers: byFault !== undefined }];
        })
      : null,
    mail: shown.has('mail')
      ? record.effects.flatMap((effect) => {
          if (effect.kind !== 'mail') return [];
          const { accepted, from, subject, text, attachments, recipients } = effect;
          const by = (taken: boolean) => recipients.filter(({ code }) => (code === 250) === taken).map(({ address }) => address);
          return [{ call: callOf(effect), accepted, from, to: by(true), refused: by(false), subject, text, attachments }];
        })
      : null,
    removed: record.removed ?? [],
  };
}

function operationOf({ seq, tool, args, told, problem, result }: Operation, by: string): MaterialOperation {
  return { seq, by, tool, args, told, problem, result };
}

/** Members of a team by number: their names tell who they are. */
function membersOf({ messages, operations, handOvers = [] }: TrialRecord): (actor: string | undefined) => string {
  const actors = [...handOvers.flatMap(({ from, to }) => [from, to]), ...messages.map(({ actor }) => actor), ...operations.map(({ actor }) => actor)];
  const known = [...new Set(actors.filter((actor) => actor !== undefined))];
  return (actor) => (actor === undefined ? 'agent' : `agent ${known.indexOf(actor) + 1}`);
}
