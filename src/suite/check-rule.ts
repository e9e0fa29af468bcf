import { type FaultKind, type FaultRule, type FaultService, KINDS_OF_SERVICE, SERVICE_KINDS } from '../domain/fault.ts';
import { problemAt } from './issues.ts';
import type { FileProblem } from './suite.ts';
import { type Path, valueAt, type YamlFile } from './yaml-file.ts';

/** What can happen before the agent begins: nothing is called yet. */
const AT_START: ReadonlySet<FaultKind> = new Set(['concurrent_change', 'conflicting_records', 'stale_read']);
/** What of a rule contradicts itself, whatever the environment is. */
export function checkRule(source: YamlFile, at: Path, rule: FaultRule): readonly FileProblem[] {
  const { kind } = rule.fault;
  if (rule.on === 'start') {
    const keys = (['call', 'calls', 'where'] as const).filter((key) => valueAt(source, [...at, key]) !== undefined);
    return [
      ...keys.map((key) => problemAt(source, [...at, key], 'nothing is called at the start; leave it out')),
      ...(AT_START.has(kind) ? [] : [problemAt(source, [...at, 'fault'], `${kind} hits a call; at the start there can be ${list(AT_START)}`)]),
    ];
  }
  if ('tool' in rule.on) {
    const committed = rule.fault.kind === 'unavailable' && rule.fault.committed === true;
    return committed
      ? [
          problemAt(
            source,
            [...at, 'committed'],
            'only a service answers so what it has carried out; for a tool write timeout_after_commit, or hit {service: ...}',
          ),
        ]
      : [];
  }
  const { service } = rule.on;
  const where =
    rule.where === undefined ? [] : [problemAt(source, [...at, 'where'], 'a service sees requests, not arguments of tools; leave it out, or hit the tool')];
  const wrong = wrongForService(kind, service);
  return wrong === null ? where : [...where, problemAt(source, [...at, 'fault'], wrong)];
}

function wrongForService(kind: FaultKind, service: FaultService): string | null {
  if (KINDS_OF_SERVICE[service].has(kind)) return null;
  if (SERVICE_KINDS.has(kind)) return `${kind} is of mail; write {service: inbox}, or a tool that sends mail, under "on"`;
  return `${kind} is nothing that can happen to the service ${service}, but ${list(KINDS_OF_SERVICE[service])}; or write a tool's name under "on"`;
}

function list(kinds: ReadonlySet<FaultKind>): string {
  return [...kinds].join(', ');
}
