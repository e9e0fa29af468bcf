import type { Child } from 'hono/jsx';
import type { Material, MaterialEffect, MaterialMail, MaterialMessage, MaterialOperation } from '../../../client/api.ts';
import { Foreign, ForeignBlock, ForeignJson, ForeignValue } from '../../../report/html/text.tsx';
import { Badge } from './layout.tsx';

/** Things of one kind on a page. */
const MOST_SHOWN = 100;

/** What a rater sees of a trial: text, and nothing that says who acted. */
export function MaterialView({ material }: { readonly material: Material }) {
  const { conversation, answer, operations, effects, mail, removed } = material;
  return (
    <>
      {removed.length > 0 && <p class="notice">Parts of this trial were removed since. Label what is left, or skip it.</p>}
      <Part id="said" title="Conversation" things={conversation} none="Nothing was said." list="chat" view={Said} />
      <Part id="answer" title="Answer" things={answer === null ? null : [answer]} none="" list="chat" view={Said} />
      <Part id="operations" title="Operations" things={operations} none="No tool was called." list="timeline" view={Called} />
      <Part id="effects" title="Effects" things={effects} none="No row was changed." list="mails" view={Changed} />
      <Part id="mail" title="Mail" things={mail} none="No mail was sent." list="mails" view={Mailed} />
    </>
  );
}

function Part<T>(props: {
  readonly id: string;
  readonly title: string;
  /** Null: the rubric does not show them. */
  readonly things: readonly T[] | null;
  readonly none: string;
  readonly list: string;
  readonly view: (one: T) => Child;
}) {
  const { id, title, things, none, list, view } = props;
  if (things === null) return null;
  return (
    <section aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {things.length === 0 ? <p class="empty">{none}</p> : <ol class={list}>{things.slice(0, MOST_SHOWN).map((one) => view(one))}</ol>}
      {things.length > MOST_SHOWN && <p class="dim">and {things.length - MOST_SHOWN} more</p>}
    </section>
  );
}

function Said({ from, text, data }: MaterialMessage) {
  return (
    <li class={from === 'user' ? 'user' : 'agent'}>
      <p class="from">{from}</p>
      {text === '' ? <p class="dim">said nothing</p> : <ForeignBlock text={text} max={8_000} />}
      {data && <ForeignJson value={data} max={4_000} />}
    </li>
  );
}

function Called({ seq, by, tool, args, told, problem, result }: MaterialOperation) {
  return (
    <li>
      <header>
        <span class="seq">{seq}</span> <strong>{<Foreign text={tool} max={120} />}</strong>
        {by !== 'agent' && <span class="dim">by {by}</span>}
        <Badge tone={told === 'committed' ? 'good' : told === 'unknown' || told === 'awaiting_approval' ? 'wait' : 'bad'}>{told.replaceAll('_', ' ')}</Badge>
      </header>
      {problem && (
        <p class="problem">
          <Foreign text={`${problem.code}: ${problem.message}`} max={600} />
        </p>
      )}
      <ForeignJson value={args} max={4_000} label={`Arguments of operation ${seq}`} />
      {result !== null && (
        <details open>
          <summary>Result</summary>
          <ForeignJson value={result} max={4_000} label={`Result of operation ${seq}`} />
        </details>
      )}
    </li>
  );
}

function Changed({ change, table, key, before, after, call, byOthers }: MaterialEffect) {
  const columns = Object.keys({ ...before, ...after })
    .filter((column) => before === null || after === null || JSON.stringify(before[column]) !== JSON.stringify(after[column]))
    .slice(0, 40);
  return (
    <li>
      <p>
        {change} <Foreign text={table} max={80} /> <ForeignValue value={Object.values(key).join(', ')} max={80} />{' '}
        <span class="dim">{byOthers ? 'by somebody else' : call === null ? '' : `by call ${call}`}</span>
      </p>
      <dl class="facts">
        {columns.map((column) => (
          <div>
            <dt>
              <Foreign text={column} max={80} />
            </dt>
            <dd>
              {before !== null && after !== null && (
                <>
                  <ForeignValue value={before[column] ?? null} max={1_000} /> →{' '}
                </>
              )}
              <ForeignValue value={(after ?? before)?.[column] ?? null} max={1_000} />
            </dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

function Mailed({ subject, from, to, refused, text, accepted, attachments }: MaterialMail) {
  return (
    <li>
      <p>
        <span class="subject">{subject === '' ? 'without a subject' : <Foreign text={subject} max={300} />}</span>{' '}
        {!accepted && <Badge tone="bad">refused</Badge>}
      </p>
      <p class="dim">
        from <Foreign text={from} max={320} /> to <Foreign text={to.join(', ')} max={1_000} />
        {refused.length > 0 && (
          <>
            ; refused for <Foreign text={refused.join(', ')} max={1_000} />
          </>
        )}
        {attachments.length > 0 && (
          <>
            ; with <Foreign text={attachments.map(({ filename, contentType }) => `${filename ?? 'no name'} (${contentType})`).join(', ')} max={600} />
          </>
        )}
      </p>
      <ForeignBlock text={text} max={8_000} label="Text of the mail" />
    </li>
  );
}
