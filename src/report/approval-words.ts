import type { ApprovalEnd } from '../domain/approval.ts';

/** How a request ended, in words. */
export function approvalEndText(end: ApprovalEnd | null): string {
  if (end === null) return 'waits for a decision';
  const by = end.by === null ? '' : ` by ${end.by}`;
  const via = end.via === 'signal' ? ', a plain signal, identity unverified' : end.via === 'case' ? ", the case's approver" : '';
  return `${WORDS[end.outcome]}${by}${via} at ${end.at}${end.reason === null ? '' : `: ${end.reason}`}`;
}

const WORDS: { readonly [outcome in ApprovalEnd['outcome']]: string } = {
  approved: 'approved',
  refused: 'refused',
  expired: 'expired',
  void: 'void: approved for what is not there any more,',
  cancelled: 'cancelled: the agent ended its work first,',
};
