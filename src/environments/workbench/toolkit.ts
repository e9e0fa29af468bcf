import type { FileSource, TableOptions, Tool } from '../define.ts';

/** A part of the office world: its tables, where their rows come from, and its tools. */
export interface Toolkit {
  /** First part of its tools' names. */
  readonly name: string;
  readonly schema: FileSource;
  readonly files: readonly DataFile[];
  /** How rows of tables that tools write to are compared. */
  readonly comparison?: { readonly [table: string]: TableOptions };
  readonly tools: (options: ToolkitOptions) => readonly Tool[];
}

export interface ToolkitOptions {
  /** Imitate the published tools where sending overwrites a mail after a deletion. */
  readonly compat: boolean;
}

/** One file of the data folder and the table that it fills. */
export interface DataFile {
  readonly file: string;
  readonly table: string;
  /** The header line; or, for a file without one, the columns of its fields. */
  readonly columns: readonly string[];
  readonly headless?: boolean;
}

/** "Now" in every world, whatever the clock says. */
export const NOW = '2023-11-30 00:00:00';
