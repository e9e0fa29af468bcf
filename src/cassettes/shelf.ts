import type { CaseCassette, Interaction } from '../domain/cassette.ts';
import type { Json } from '../domain/json.ts';
import { printable, quote } from '../domain/text/bounded.ts';
import { canonicalJson } from '../suite/identity.ts';
import { differences } from './differences.ts';
import { normalised } from './normalise.ts';
import { withSecretsByKind } from './redactor.ts';

/** A call that a cassette is asked to answer. */
export interface AskedCall {
  readonly tool: string;
  readonly args: Json;
  /** Digest of the permission scope. */
  readonly scope: string;
  /** Digest of the tool's schema as it is now. */
  readonly schema: string;
}

/** Longest text that says why there is no answer, in UTF-16 units. */
const MAX_MESSAGE = 1_500;
const SHOWN_DIFFERENCES = 5;

/** A cassette to be asked: by tool, canonical arguments, permission scope and schema; equal calls in their recorded order. */
export class Shelf {
  private readonly played: CaseCassette;
  private readonly keys: readonly string[];

  constructor(played: CaseCassette) {
    this.played = played;
    this.keys = this.interactions.map((interaction) => this.keyOf(interaction));
  }

  get interactions(): readonly Interaction[] {
    return this.played.cassette.interactions;
  }

  /** Place of the first interaction that answers the call and is not used yet; else why there is none. */
  find(asked: AskedCall, used: ReadonlySet<number>): number | { readonly miss: string } {
    const key = this.keyOf(asked);
    const place = this.keys.findIndex((recorded, index) => recorded === key && !used.has(index));
    return place >= 0 ? place : { miss: printable(this.missText(asked, key, used), MAX_MESSAGE) };
  }

  private keyOf({ tool, args, scope, schema }: AskedCall): string {
    return canonicalJson({ tool, args: this.comparable(tool, args), scope, schema });
  }

  /** Secrets are not in the recording, so they are compared by kind. */
  private comparable(tool: string, args: Json): Json {
    return withSecretsByKind(normalised(tool, args, this.played.normalise));
  }

  private missText(asked: AskedCall, key: string, used: ReadonlySet<number>): string {
    const { variant } = this.played.cassette;
    const times = this.keys.filter((recorded) => recorded === key).length;
    const tool = printable(asked.tool, 128);
    if (times > 0) return `Cassette ${variant} holds this call of ${tool} ${times} ${times === 1 ? 'time' : 'times'}, and it was made once more.`;
    const nearest = this.nearest(asked, used);
    if (nearest === null) return `Cassette ${variant} holds no call of ${tool}.`;
    return `Cassette ${variant} holds no such call of ${tool}; the nearest is interaction ${nearest.place + 1}, recorded with ${nearest.told.join('; ')}.`;
  }

  /** The interaction of the same tool that differs least, unused ones before used ones. */
  private nearest(asked: AskedCall, used: ReadonlySet<number>): { readonly place: number; readonly told: readonly string[] } | null {
    const args = this.comparable(asked.tool, asked.args);
    const candidates = this.interactions.flatMap((recorded, place) => {
      if (recorded.tool !== asked.tool) return [];
      const found = differences(this.comparable(recorded.tool, recorded.args), args, 50);
      const told = [
        ...(recorded.schema === asked.schema ? [] : [`another schema of the tool (${recorded.schema}, now ${asked.schema})`]),
        ...(recorded.scope === asked.scope ? [] : [`another permission scope (${recorded.scope}, now ${asked.scope})`]),
        ...found.slice(0, SHOWN_DIFFERENCES).map(({ path, before, after }) => `${path === '' ? 'arguments' : path} ${shown(before)}, now ${shown(after)}`),
        ...(found.length > SHOWN_DIFFERENCES ? ['more'] : []),
      ];
      return [{ place, told, weight: told.length + found.length + (used.has(place) ? 0.5 : 0) }];
    });
    return candidates.reduce<(typeof candidates)[number] | null>((best, next) => (best === null || next.weight < best.weight ? next : best), null);
  }
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'left out' : quote(value);
}
