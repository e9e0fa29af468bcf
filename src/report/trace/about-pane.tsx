import type { Child } from 'hono/jsx';
import { durationText } from '../duration-text.ts';
import { costText, tokensText } from '../model-text.ts';
import { Foreign, Time } from '../html/text.tsx';
import { Pane } from './panes.tsx';
import type { Trace } from './trace.ts';

/** Facts of the attempt, what is missing in the page, and its words. */
export function AboutPane({ trace: { head, missing } }: { readonly trace: Trace }) {
  const { summary, schedule } = head;
  const facts: (readonly [string, Child | null])[] = [
    ['Trial', <code>{head.trial}</code>],
    ['Batch', <code>{head.batch}</code>],
    ['Attempt', `${head.attempt} of ${head.attempts.length}${head.counts ? ', the one that counts' : ', which does not count'}`],
    ['Case', <Foreign text={head.case} max={120} />],
    ['Agent', <Foreign text={`${head.agent} (${head.agentHash.slice(0, 12)})`} max={120} />],
    ['User', <Foreign text={`${head.user.name}, role ${head.user.role}`} max={160} />],
    [
      'World’s clock',
      <>
        began at <Foreign text={`${head.clock.at} ${head.clock.timezone}`} max={80} />
      </>,
    ],
    ['Ending', head.ending === null ? 'it has not ended' : head.ending.replaceAll('_', ' ')],
    ['Took', summary ? `${durationText(summary.durationMs / 1000)}, ${summary.calls} calls` : null],
    ['Models', summary?.models?.agent ? `${costText(summary.models.agent)}, ${tokensText(summary.models.agent)} tokens` : null],
    [
      'Origin',
      head.origin
        ? `goes on from attempt ${head.origin.attempt} of ${head.origin.trial}; its first ${head.origin.calls} calls are answered from that one's record`
        : null,
    ],
    ['Disturbed', summary?.disturbed ? 'yes: the test bed had to recover an operation' : null],
  ];
  return (
    <Pane id="about" title="About this trial">
      {missing.length > 0 && (
        <ul class="missing">
          {missing.map((line) => (
            <li>{line}</li>
          ))}
        </ul>
      )}
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <h3>Fault schedule</h3>
      {schedule === null ? (
        <p>None: nothing was made to go wrong.</p>
      ) : (
        <>
          <p>
            <Foreign text={`${schedule.name}: ${schedule.title}`} max={300} />
          </p>
          <ol>
            {schedule.rules.map(({ text, fired }) => (
              <li>
                <Foreign text={text} max={400} />
                {fired !== null && (
                  <span class="dim"> ({fired === 0 ? 'never fired: tested nothing' : fired === 1 ? 'fired once' : `fired ${fired} times`})</span>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
      {head.attempts.length > 1 && (
        <>
          <h3>Attempts</h3>
          <ul>
            {head.attempts.map((one) => (
              <li>
                {one.attempt}: {one.ending ?? 'open'}
                {one.counts && ', counts'}, from <Time at={one.startedAt} />
                {one.problem && (
                  <>
                    : <Foreign text={`${one.problem.code}: ${one.problem.message}`} max={300} />
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>How to read it</h3>
      <dl class="words">
        {WORDS.map(([word, text]) => (
          <div>
            <dt>{word}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Pane>
  );
}

const WORDS = [
  ['trial', 'One run of an agent on one task, in a world that was made for it alone.'],
  [
    'step',
    'A message, a call of a tool, or something that happened beside them. Up and down (or j and k) go from step to step; left and right from pane to pane.',
  ],
  ['told', 'What the agent could know of a call from its reply.'],
  ['known', 'What really became of it, as the databases, the inbox and the ticket service show.'],
  ['unknown', 'The reply was lost: the call may have had its effect. Whoever calls again without looking may do it twice.'],
  ['fault', 'Something that was made to go wrong on purpose, to see what the agent does.'],
  ['finding', 'One thing that the verdict found, with its evidence.'],
  ['world’s clock', 'The time that all systems of the world show. It stands still until something moves it.'],
] as const;
