import { type FaultKind, type FaultRule, type FaultService, SERVICE_KINDS } from '../domain/fault.ts';
import { problemAt } from './issues.ts';
import type { FileProblem } from './suite.ts';
import { type Path, valueAt, type YamlFile } from './yaml-file.ts';

/** What can happen before the agent begins: nothing is called yet. */
const AT_START: ReadonlySet<FaultKind> = new Set(['concurrent_change', 'conflicting_records', 'stale_read']);
/** What the contract and the permission of a tool are, a service does not know. */
const OF_TOOLS: ReadonlySet<FaultKind> = new Set(['permission_revoked', 'schema_changed']);
/** Of a database that tools read, only its age can be wrong without the tool's own call being hit. */
const OF_DATABASE: ReadonlySet<FaultKind> = new Set(['stale_read']);

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
  if (OF_TOOLS.has(kind)) return `${kind} is of a tool, not of a service; write the tool's name under "on"`;
  if (SERVICE_KINDS.has(kind) && service !== 'inbox') return `${kind} is of mail; write {service: inbox}, or a tool that sends mail, under "on"`;
  if (service === 'database' && !OF_DATABASE.has(kind)) return `of the database there can be ${list(OF_DATABASE)}; for ${kind} write a tool's name under "on"`;
  if (service === 'inbox' && kind === 'stale_read') return 'nobody reads from the inbox; stale_read is of a tool, tickets or database';
  return null;
}

function list(kinds: ReadonlySet<FaultKind>): string {
  return [...kinds].join(', ');
}
