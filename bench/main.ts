/** `npm run bench`: see the usage. Exit status 2 for options that cannot be used; figures decide nothing. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Root } from '../src/worker/root.ts';
import { cassetteRate } from './cassette-rate.ts';
import { callCost } from './call-cost.ts';
import type { Effort, Figures } from './figures.ts';
import { inspectAi } from './inspect.ts';
import { onOwnServices } from './own-services.ts';
import { slowModel } from './slow-model.ts';
import { targetsOf } from './targets.ts';
import { tenThousand } from './ten-thousand.ts';
import { trialRate } from './trial-rate.ts';
import { worldCost } from './world-cost.ts';

type Section = (root: Root, effort: Effort) => Promise<Figures>;

/** In the order in which they run. */
const SECTIONS: { readonly [name: string]: { readonly measure: Section; readonly asked?: true } } = {
  trials: { measure: trialRate },
  calls: { measure: callCost },
  worlds: { measure: worldCost },
  cassettes: { measure: cassetteRate },
  model: { measure: slowModel },
  inspect: { measure: inspectAi },
  'ten-thousand': { measure: tenThousand, asked: true },
};

const USAGE = `usage: npm run bench -- [options]

Measures on services of its own, each section beside what it is compared with, in turns. Only ratios say something: a busy machine moves both sides.

  --only NAME     a section (repeatable): ${Object.keys(SECTIONS).join(', ')}
                  (default: all but ten-thousand)
  --quick         a fraction of the work, for a look
  --json FILE     the figures as one JSON object
  --help
`;

interface Asked extends Effort {
  readonly sections: readonly string[];
  readonly json: string | null;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let asked: Asked | null;
  try {
    asked = optionsOf(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    return 2;
  }
  if (asked === null) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { sections, json, quick } = asked;
  let figures: Figures = {};
  await onOwnServices(async (root) => {
    for (const name of sections) {
      process.stderr.write(`${name}\n`);
      figures = { ...figures, ...(await SECTIONS[name]?.measure(root, { quick })) };
    }
  });
  const targets = targetsOf(figures);
  process.stdout.write(`${table(figures)}\n`);
  for (const { what, target, measured, met } of targets) process.stdout.write(`${met ? 'met    ' : 'NOT met'}  ${what}: ${measured}, to be ${target}\n`);
  if (json !== null) await writeFile(json, `${JSON.stringify({ quick, ...figures, targets }, null, 2)}\n`);
  return 0;
}

function optionsOf(args: readonly string[]): Asked | null {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: 'string', multiple: true }, quick: { type: 'boolean' }, json: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) return null;
  for (const name of values.only ?? []) {
    if (!Object.hasOwn(SECTIONS, name)) throw new TypeError(`there is no section ${JSON.stringify(name)}; there are ${Object.keys(SECTIONS).join(', ')}`);
  }
  const all = Object.entries(SECTIONS).flatMap(([name, { asked }]) => (asked ? [] : [name]));
  return { sections: values.only ?? all, json: values.json ?? null, quick: values.quick ?? false };
}

function table(figures: Figures): string {
  const width = Math.max(...Object.keys(figures).map((name) => name.length));
  return Object.entries(figures)
    .map(([name, figure]) => {
      const cells =
        typeof figure === 'object' && figure !== null ? Object.entries(figure).map(([at, value]) => `${at}: ${value ?? '-'}`) : [String(figure ?? '-')];
      return `${name.padEnd(width)}  ${cells.join('  ')}`;
    })
    .join('\n');
}
