import type { ModelCall } from '../../domain/model.ts';
import { isList, isObject } from '../../domain/text/bounded.ts';
import type { ConversationEntry } from '../../store/conversation.ts';
import { costText } from '../model-text.ts';
import { Foreign, ForeignBlock } from '../html/text.tsx';
import type { Room } from './room.ts';

/** One message between a model and whoever asked it, as it was kept: redacted. */
export function ModelEntry({ entry: { body }, call, room }: { readonly entry: ConversationEntry; readonly call: ModelCall | undefined; readonly room: Room }) {
  const { text, omitted } = body;
  const calls = body['calls'];
  return (
    <>
      {call && (
        <p class="dim">
          <Foreign text={callText(call)} max={300} />
        </p>
      )}
      {omitted === true && <p class="dim">left out: the record of this attempt is full</p>}
      {typeof text === 'string' && text !== '' && <ForeignBlock text={text} max={room.text} />}
      {calls !== undefined &&
        isList(calls) &&
        calls.map((one) =>
          isObject(one) ? (
            <p>
              calls <Foreign text={String(one['tool'])} max={100} /> <Foreign text={String(one['args'])} max={room.value} />
            </p>
          ) : null,
        )}
    </>
  );
}

function callText({ model, reported, usage, price, latencyMs, tries, end, problem }: ModelCall): string {
  const tokens = usage === null ? 'tokens not measured' : `${usage.input} tokens in, ${usage.output} out`;
  const cost = costText({ cost: price === null ? null : { [price.currency]: price.amount }, unmeasured: { tokens: 0, cost: 0 } });
  const ended = end === 'replied' ? [] : [`${end}${problem ? `: ${problem.message}` : ''}`];
  return [
    reported ?? model,
    tokens,
    `cost ${cost}`,
    ...(latencyMs === null ? [] : [`${Math.round(latencyMs)} ms`]),
    ...(tries > 1 ? [`${tries} tries`] : []),
    ...ended,
  ].join(', ');
}
