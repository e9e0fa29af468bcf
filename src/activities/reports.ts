/**
 * Ends of trials on their way to their batches. While one signal to a batch is under way, what ends meanwhile waits and goes with the next: under load many ends make one
 * signal, and a trial that ends alone is reported at once.
 */
export class Reports {
  private readonly send: (window: string, trials: readonly string[]) => Promise<void>;
  private readonly boxes = new Map<string, Box>();

  constructor(send: (window: string, trials: readonly string[]) => Promise<void>) {
    this.send = send;
  }

  /** Resolves when the signal with this trial was taken. @throws what kept it from being sent. */
  report(window: string, trial: string): Promise<void> {
    const box = this.boxes.get(window) ?? { sending: Promise.resolve(), next: null };
    this.boxes.set(window, box);
    if (box.next !== null) {
      box.next.trials.push(trial);
      return box.next.sent;
    }
    const trials = [trial];
    const sent = box.sending.then(() => {
      box.next = null;
      return this.send(window, trials);
    });
    box.next = { trials, sent };
    box.sending = sent
      .catch(() => undefined)
      .then(() => {
        if (box.next === null) this.boxes.delete(window);
      });
    return sent;
  }
}

interface Box {
  /** Ends when the signal that is under way was taken or refused. */
  sending: Promise<void>;
  /** What goes with the one after it. */
  next: { readonly trials: string[]; readonly sent: Promise<void> } | null;
}
