/** Kinds of what is kept, each for its own time. */
export const RECORD_CLASSES = ['snapshots', 'raw_mail', 'conversation', 'ledger', 'verdicts'] as const;

/**
 * `snapshots`: worlds that were kept. `raw_mail`: mails as they were sent, in snapshots. `conversation`: messages between user and agent, and between models and whoever asked
 * them. `ledger`: records with operations and effects, approvals, model calls. `verdicts`: the batch with all that is left of it.
 */
export type RecordClass = (typeof RECORD_CLASSES)[number];

/** For how long, in milliseconds from the end of an attempt or, for `verdicts`, of its batch; null: for ever. */
export type Retention = { readonly [K in RecordClass]: number | null };

export const KEEP_ALL: Retention = { snapshots: null, raw_mail: null, conversation: null, ledger: null, verdicts: null };
