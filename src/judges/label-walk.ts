/** Something to be labelled, and what this person said of it before. */
export interface WalkItem {
  readonly item: string;
  readonly labelled: boolean;
}

/**
 * Where somebody stands among the items that they label: from one without a label to the next, past those that they skip, and back to those that they have seen. It knows no categories and stores nothing.
 */
export class LabelWalk {
  private readonly items: readonly string[];
  private readonly labelled: Set<string>;
  private readonly seen: string[] = [];
  private at: number;

  constructor(items: readonly WalkItem[]) {
    this.items = items.map(({ item }) => item);
    this.labelled = new Set(items.flatMap(({ item, labelled }) => (labelled ? [item] : [])));
    this.at = this.openFrom(0);
  }

  /** Null: nothing is left, of what was not skipped. */
  get current(): string | null {
    return this.items[this.at] ?? null;
  }

  /** How many have a label, of how many. */
  get progress(): { readonly labelled: number; readonly of: number } {
    return { labelled: this.labelled.size, of: this.items.length };
  }

  /** The current one has a label now; goes on. */
  done(): void {
    if (this.current !== null) this.labelled.add(this.current);
    this.leave();
  }

  /** Leaves it as it is; it comes again the next time. */
  skip(): void {
    this.leave();
  }

  /** To the one that was shown before; `false`: there is none. */
  back(): boolean {
    const before = this.seen.pop();
    if (before === undefined) return false;
    this.at = this.items.indexOf(before);
    return true;
  }

  private leave(): void {
    const { current } = this;
    if (current === null) return;
    this.seen.push(current);
    this.at = this.openFrom(this.at + 1);
  }

  private openFrom(start: number): number {
    const passed = new Set(this.seen);
    const found = this.items.findIndex((item, at) => at >= start && !this.labelled.has(item) && !passed.has(item));
    return found < 0 ? this.items.length : found;
  }
}
