import type { ContainerOwner } from '../hosts/container.ts';
import { type SweepReport, WorldServerAwayError, type Worlds } from '../world.ts';
import type { WorldServers } from './servers.ts';
import { sweepContainers } from './sweep-containers.ts';
import { sweepHost } from './sweep.ts';

/** Sweeps every server that answers, and the containers of worlds; names the servers that do not. @throws {WorldServerAwayError} when none answers */
export async function sweepServers(
  { all }: WorldServers,
  owner: ContainerOwner | null,
  options: Parameters<Worlds['sweep']>[0] & {
    readonly failpoint: (name: string) => void;
    readonly log: (message: string, details: { readonly [name: string]: unknown }) => void;
  },
): Promise<SweepReport> {
  const reports: SweepReport[] = [];
  const errors: WorldServerAwayError[] = [];
  const answered = [];
  for (const server of all) {
    try {
      reports.push(await server.reach(({ host }) => sweepHost(host, options)));
      if (server.prepared) answered.push(server.prepared.host);
    } catch (error) {
      if (!(error instanceof WorldServerAwayError)) throw error;
      errors.push(error);
    }
  }
  const [first] = errors;
  if (first && answered.length === 0) throw first;
  reports.push(await sweepContainers(answered, owner, options));
  const sum = (of: (report: SweepReport) => number) => reports.reduce((total, report) => total + of(report), 0);
  return {
    live: sum((report) => report.live),
    pooled: sum((report) => report.pooled),
    swept: reports.flatMap((report) => report.swept),
    leaked: sum((report) => report.leaked),
    ever: {
      made: sum((report) => report.ever.made),
      released: sum((report) => report.ever.released),
      swept: sum((report) => report.ever.swept),
    },
    ...(errors.length > 0 && { away: errors.map(({ server, why }) => ({ server, why })) }),
  };
}
