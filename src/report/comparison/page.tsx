import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { raw } from 'hono/html';
import { Foreign } from '../html/text.tsx';
import { GainChart } from './chart.tsx';
import { Changed } from './changed-part.tsx';
import type { Comparison } from './comparison.ts';
import { gainText } from './comparison-markdown.ts';
import { amountTexts, noiseSentences, sensitivitySentences } from './sentences.ts';
import { namesOf, openingLines, SHOWN_TEXTS, sideText } from './wording.ts';

/** A comparison as one HTML file that asks for nothing from anywhere and has no script: it reads the same in print. Foreign text in it is escaped and cut. */
export function comparisonHtml(comparison: Comparison): string {
  return `<!doctype html>${String(ComparisonPage({ comparison }))}`;
}

function ComparisonPage({ comparison }: { readonly comparison: Comparison }) {
  const style = readFileSync(new URL('./assets/comparison.css', import.meta.url), 'utf8');
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;
  const { a, b } = comparison;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>{`${sideText(b)} beside ${sideText(a)}`.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ').slice(0, 200)}</title>
        <style>{raw(style)}</style>
      </head>
      <body>
        <main>
          <header>
            <p class="kicker">trialbed: two agents on the same trials</p>
            <h1>
              <Foreign text={namesOf(comparison).b} max={120} /> <span class="beside">beside</span> <Foreign text={namesOf(comparison).a} max={120} />
            </h1>
            <Opening comparison={comparison} />
          </header>
          {comparison.schedules.length > 0 && <Schedules comparison={comparison} />}
          <Changed comparison={comparison} />
          <Limits comparison={comparison} />
          <Sides comparison={comparison} />
        </main>
      </body>
    </html>
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

function Schedules({ comparison }: { readonly comparison: Comparison }) {
  return (
    <section>
      <h2>By fault schedule</h2>
      <p class="dim">
        Gains of <Foreign text={namesOf(comparison).b} max={120} /> in points of a hundred, above zero where it is better. What is shown under one schedule
        holds under that one only; intervals are widened for the number of schedules.
      </p>
      <GainChart comparison={comparison} />
      <section class="wide" tabindex={0} aria-label="Figures by fault schedule">
        <table>
          <thead>
            <tr>
              <th scope="col">schedule</th>
              <th scope="col" class="number">
                trials
              </th>
              <th scope="col" class="number">
                better
              </th>
              <th scope="col" class="number">
                worse
              </th>
              <th scope="col">safer</th>
              <th scope="col">more useful</th>
            </tr>
          </thead>
          <tbody>
            {comparison.schedules.map(({ schedule, trials, better, worse, safer, useful, neverFired }) => (
              <tr>
                <th scope="row">
                  <Foreign text={schedule} max={120} />
                  {neverFired && <span class="tag">never fired</span>}
                </th>
                <td class="number">{trials}</td>
                <td class="number">{better}</td>
                <td class="number">{worse}</td>
                <td>
                  {SHOWN_TEXTS[safer.answer]}, {gainText(safer)}
                </td>
                <td>
                  {SHOWN_TEXTS[useful.answer]}, {gainText(useful)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Limits({ comparison }: { readonly comparison: Comparison }) {
  const names = namesOf(comparison);
  return (
    <section>
      <h2>How far this goes</h2>
      <ul>
        {[...noiseSentences(comparison), ...sensitivitySentences(comparison)].map((line) => (
          <li>
            <Foreign text={line} />
          </li>
        ))}
      </ul>
      {comparison.amounts.length > 0 && (
        <section class="wide" tabindex={0} aria-label="Amounts">
          <table>
            <thead>
              <tr>
                <th scope="col">mean of a trial</th>
                <th scope="col" class="number">
                  <Foreign text={names.a} max={60} />
                </th>
                <th scope="col" class="number">
                  <Foreign text={names.b} max={60} />
                </th>
                <th scope="col" class="number">
                  difference
                </th>
                <th scope="col">interval</th>
              </tr>
            </thead>
            <tbody>
              {comparison.amounts.map((amount) => {
                const [a, b, difference, interval] = amountTexts(amount);
                return (
                  <tr>
                    <th scope="row">
                      <Foreign text={amount.name} max={60} />
                    </th>
                    <td class="number">{a}</td>
                    <td class="number">{b}</td>
                    <td class="number">{difference}</td>
                    <td>{interval}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function Sides({ comparison }: { readonly comparison: Comparison }) {
  return (
    <section>
      <h2>What was compared</h2>
      <section class="wide" tabindex={0} aria-label="What was compared">
        <table>
          <thead>
            <tr>
              <th scope="col">batch and agent</th>
              <th scope="col">agent's hash</th>
              <th scope="col">generation of the environment</th>
              <th scope="col" class="number">
                trials
              </th>
              <th scope="col" class="number">
                matched
              </th>
            </tr>
          </thead>
          <tbody>
            {[comparison.a, comparison.b].map((side) => (
              <tr>
                <th scope="row">
                  <Foreign text={sideText(side)} max={160} />
                </th>
                <td>{side.agentHashes.map((hash) => hash.slice(0, 12)).join(', ')}</td>
                <td>{side.generations.map((generation) => generation.slice(0, 12)).join(', ')}</td>
                <td class="number">{side.trials}</td>
                <td class="number">{side.matched}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
