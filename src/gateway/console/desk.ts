import type { HttpBindings } from '@hono/node-server';
import type { AskedApproval } from '../../store/store.ts';
import type { Visitor } from './access.ts';
import type { ConsoleBackend } from './backend.ts';
import type { Notice, PageContext } from './pages/layout.tsx';

/** What each request of somebody who is signed in carries. */
export interface DeskApp {
  Bindings: HttpBindings;
  Variables: { visitor: Visitor; form: { readonly [field: string]: unknown } };
}

/** How long a count of what waits may be old: every page shows it. */
const COUNTED_MS = 1_000;
/** Sessions whose notices are kept until their next page. */
const MOST_NOTICES = 1_000;

/** What routes share: the backend, the clock, and what a session is told on its next page. */
export class Desk {
  readonly backend: ConsoleBackend;
  readonly now: () => Date;
  private readonly notices = new Map<string, Notice>();
  private counted: { readonly at: number; readonly asked: Promise<readonly AskedApproval[]> } | null = null;

  constructor(backend: ConsoleBackend, now: () => Date) {
    this.backend = backend;
    this.now = now;
  }

  /** Told once, on the session's next page. */
  tell(visitor: Visitor, notice: Notice): void {
    if (this.notices.size >= MOST_NOTICES) this.notices.clear();
    this.notices.set(visitor.key, notice);
    this.counted = null;
  }

  /** `refresh`: asked for by a page that is shown already, which must not take what the next one is to tell. */
  async context(visitor: Visitor, refresh: boolean): Promise<PageContext> {
    const notice = refresh ? null : (this.notices.get(visitor.key) ?? null);
    if (!refresh) this.notices.delete(visitor.key);
    return { visitor, notice, waiting: (await this.asked()).length };
  }

  /** What waits for people, a second old at most. */
  asked(): Promise<readonly AskedApproval[]> {
    const at = this.now().getTime();
    if (this.counted === null || at - this.counted.at > COUNTED_MS) {
      const asked = this.backend.bed.approvals();
      this.counted = { at, asked };
      asked.catch(() => {
        this.counted = null;
      });
    }
    return this.counted.asked;
  }
}
