import { type DrawnRule, type Fault, type InjectedFault, targetText } from '../../domain/fault.ts';
import type { ServiceRequest } from '../world.ts';

/** A fault that a service injects into a request, as it is recorded. */
export function injected(rule: DrawnRule, position: number, request: ServiceRequest): Omit<InjectedFault, 'at'> {
  return {
    rule: rule.index,
    kind: rule.fault.kind,
    on: targetText(rule.on),
    position,
    operation: request.operation?.id ?? null,
    detail: `${request.what}: ${detailOf(rule.fault)}`,
  };
}

function detailOf(fault: Fault): string {
  switch (fault.kind) {
    case 'rate_limited':
      return `refused, to be tried again after ${fault.retryAfterSeconds} s`;
    case 'unavailable':
      return fault.committed ? 'carried out, and answered as unavailable' : 'refused as unavailable';
    case 'timeout_before_commit':
      return 'lost on the way, without a reply';
    case 'timeout_after_commit':
      return 'carried out, and its reply lost';
    case 'slow':
      return `answered ${fault.bySeconds} s later`;
    case 'stale_read':
      return `from now on reads answer as of ${fault.asOf === 'start' ? 'the start' : 'now'}`;
    case 'concurrent_change':
      return `somebody else changed rows just ${fault.when} it`;
    case 'conflicting_records':
      return 'rows of another system were made to disagree';
    case 'duplicate_delivery':
      return `carried out ${fault.copies + 1} times`;
    case 'permission_revoked':
      return 'refused, since the permission was revoked';
    case 'schema_changed':
      return 'held against a changed schema';
    case 'malformed_reply':
      return 'carried out, and its reply cut off';
    case 'payload_too_large':
      return `refused above ${fault.limitBytes} bytes`;
    case 'smtp_connect':
      return fault.code === undefined ? 'the connection ended without a reply' : `the connection was refused with ${fault.code}`;
    case 'smtp_recipient':
      return `${fault.recipient ?? 'every recipient'} refused with ${fault.code}`;
    case 'smtp_data':
      return 'the connection ended in the middle of the message';
    case 'smtp_final_dot':
      return `${fault.stored ? 'stored' : 'not stored'}, ${fault.code === undefined ? 'reply lost' : `answered ${fault.code}`}`;
  }
}
