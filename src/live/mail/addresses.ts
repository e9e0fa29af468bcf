/**
 * An address as a trial's mails carry it in their envelope: below the trial's own domain, so that a mail can reach nobody else, whatever server it is handed to. Headers and text
 * stay as they were written.
 */
export function contained(address: string, domain: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}@${address.slice(at + 1).toLowerCase()}.${domain}`;
}

/** The address as it was written; null for one that is not of this trial, or of its accounts. */
export function written(address: string, domain: string): string | null {
  const suffix = `.${domain}`;
  return address.toLowerCase().endsWith(suffix) ? address.slice(0, -suffix.length) : null;
}
