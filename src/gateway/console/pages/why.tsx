import type { Child } from 'hono/jsx';
import { Foreign } from '../../../report/html/text.tsx';

/** Why a trial stands where it stands, as the client API tells it. */
export interface Why {
  readonly sentence: string;
  /** Stable, for programs. */
  readonly cause: string;
  /** A line for each piece. */
  readonly evidence: readonly string[];
  /** What to do next; null: nothing. */
  readonly next: string | null;
}

export function WhyView({ why }: { readonly why: Why }): Child {
  return (
    <section aria-labelledby="why-title" class="callout">
      <h2 id="why-title">Why it stands here</h2>
      <p class="lead">
        <Foreign text={why.sentence} max={1_000} />
      </p>
      {why.evidence.length > 0 && (
        <ul class="marks">
          {why.evidence.slice(0, 20).map((line) => (
            <li>
              <Foreign text={line} max={1_000} />
            </li>
          ))}
        </ul>
      )}
      {why.next !== null && (
        <p>
          Next: <WithCommands text={why.next} />
        </p>
      )}
    </section>
  );
}

/** Commands stand between backticks. */
function WithCommands({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .slice(0, 1_000)
        .split('`')
        .map((part, at) =>
          at % 2 === 0 ? (
            <Foreign text={part} />
          ) : (
            <code>
              <Foreign text={part} />
            </code>
          ),
        )}
    </>
  );
}
