/** One text for equal mailboxes: the local part as it is, the domain without regard to case. A display name and angle brackets are taken off. */
export function mailbox(address: string): string {
  const bounded = address.slice(0, 2000);
  const open = bounded.lastIndexOf('<');
  const close = bounded.lastIndexOf('>');
  const plain = (open >= 0 && close > open ? bounded.slice(open + 1, close) : bounded).trim().normalize('NFC');
  const at = plain.lastIndexOf('@');
  return at < 0 ? plain : `${plain.slice(0, at)}@${plain.slice(at + 1).toLowerCase()}`;
}

/** Whether two addresses are one mailbox. */
export function sameMailbox(a: string, b: string): boolean {
  return mailbox(a) === mailbox(b);
}

/** Mail addresses in a text, in order, as written. */
export function mailboxesIn(text: string): string[] {
  return [...text.matchAll(/(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,250}[\p{L}\p{N}])?/gu)].map((found) => found[0]);
}
