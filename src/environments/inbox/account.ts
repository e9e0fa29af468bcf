/** Who speaks: a world's account, and the operation it claims to speak for. */
export interface AccountName {
  readonly world: string;
  readonly operation: OperationAttempt | null;
}

/** One attempt of one operation. */
export interface OperationAttempt {
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
}

/** `<world>` or `<world>+<operation>.<attempt>`: the SMTP user name. */
export function formatAccount(world: string, operation: OperationAttempt | null): string {
  return operation === null ? world : `${world}+${formatOperation(operation)}`;
}

/** Null when the text is no account name. */
export function parseAccount(user: string): AccountName | null {
  const plus = user.indexOf('+');
  const world = plus < 0 ? user : user.slice(0, plus);
  if (!/^[a-z0-9]{1,63}$/.test(world)) return null;
  if (plus < 0) return { world, operation: null };
  const operation = parseOperation(user.slice(plus + 1));
  return operation === null ? null : { world, operation };
}

/** `<operation>.<attempt>`, as user names and the header `Trialbed-Operation` carry it. */
export function formatOperation(operation: OperationAttempt): string {
  return `${operation.id}.${operation.attempt}`;
}

/** The attempt stands after the last dot, so that an operation's id may hold dots. Null when the text is no such pair. */
export function parseOperation(text: string): OperationAttempt | null {
  const match = /^([!-~]{1,200})\.([0-9]{1,9})$/.exec(text);
  return match?.[1] === undefined ? null : { id: match[1], attempt: Number(match[2]) };
}
