import { fileHtml } from '../html/document.tsx';
import { CHARTS } from '../html/figure.tsx';
import { Foreign } from '../html/text.tsx';
import { IN_CLEAR } from '../in-clear.ts';
import { Changed } from './changed-part.tsx';
import type { Comparison } from './comparison.ts';
import { Limits, Schedules, Sides } from './figures-part.tsx';
import { COMPARED } from './style.ts';
import { namesOf, openingLines, SHOWN_TEXTS, sideText } from './wording.ts';

/** A comparison as one HTML file that asks for nothing from anywhere and has no script: it reads the same in print. Foreign text in it is escaped and cut. */
export function comparisonHtml(comparison: Comparison): string {
  const { a, b } = comparison;
  return fileHtml({ title: `${sideText(b)} beside ${sideText(a)}`, styles: [CHARTS, COMPARED, STYLE], body: <Content comparison={comparison} /> });
}

const STYLE = new URL('./assets/comparison.css', import.meta.url);

function Content({ comparison }: { readonly comparison: Comparison }) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the figures
      </a>
      <main>
        <header>
          <p class="kicker">trialbed: two agents on the same trials</p>
          <h1>
            <Foreign text={namesOf(comparison).b} max={120} /> <span class="beside">beside</span> <Foreign text={namesOf(comparison).a} max={120} />
          </h1>
          <Opening comparison={comparison} />
          <p class="note">{IN_CLEAR}</p>
        </header>
        <div id="main" tabindex={-1}>
          {comparison.schedules.length > 0 && (
            <section>
              <h2>By fault schedule</h2>
              <Schedules comparison={comparison} />
            </section>
          )}
          <section>
            <h2>What changed</h2>
            <Changed comparison={comparison} />
          </section>
          <section>
            <h2>How far this goes</h2>
            <Limits comparison={comparison} />
          </section>
          <section>
            <h2>What was compared</h2>
            <Sides comparison={comparison} />
          </section>
        </div>
      </main>
    </>
  );
}

function Opening({ comparison }: { readonly comparison: Comparison }) {
  return (
    <dl class="opening">
      {openingLines(comparison).map(({ label, answer, text }) => (
        <div>
          <dt>{label}</dt>
          <dd>
            {answer !== null && <strong class={`answer ${answer}`}>{SHOWN_TEXTS[answer]}</strong>} <Foreign text={text} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
