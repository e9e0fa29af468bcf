import type { GateResult, QuarantinedCase } from '../domain/gates/result.ts';
import type { BatchSummary } from '../domain/trial.ts';
import { plainText } from '../report/plain-text.ts';
import type { Paint } from './host.ts';

/** Whether a batch has reached what it has to, each gate that does not say the same as the others, and what is in quarantine. */
export function gateLines(summary: BatchSummary, paint: Paint): string[] {
  const { gates = [], quarantined = [] } = summary;
  const asked = new Set(gates.map(({ gate }) => gate)).size;
  const told = gates.filter(({ result }) => asked > 1 || result !== 'met');
  return [...told.map((one) => resultLine(one, paint)), ...quarantined.map((one) => quarantineLine(one, paint)), wholeLine(summary, paint)];
}

const RESULTS = { met: ['met', 'green'], not_met: ['not met', 'red'], not_judged: ['not judged', 'red'] } as const;

function resultLine({ gate, agent, result, reason }: GateResult, paint: Paint): string {
  const [word, colour] = RESULTS[result];
  return `gate ${plainText(gate)} by ${plainText(agent)}: ${paint(colour, word)}, ${plainText(reason)}`;
}

function quarantineLine({ case: name, reason, owner, until, over, trials, passed }: QuarantinedCase, paint: Paint): string {
  const counts = `${passed} of ${trials} passed`;
  const text = `${plainText(name)} (${plainText(owner)}: ${plainText(reason)}), ${counts}`;
  return over
    ? paint('red', `quarantine over since ${until}: ${text}; somebody has to decide`)
    : paint('yellow', `in quarantine until ${until}, gates nothing: ${text}`);
}

function wholeLine(summary: BatchSummary, paint: Paint): string {
  if (summary.gate === 'met') return paint('green', 'gate met');
  if (summary.gate === 'not_met') return paint('red', 'gate not met');
  return paint('yellow', summary.infraErrors > 0 ? 'gate not judged: infrastructure errors' : 'gate not judged: the simulated user failed');
}
