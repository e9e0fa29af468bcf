import type { ServiceSession } from './world.ts';

/** Where a world's services listen. Loopback unless configured. */
export interface ServiceAddresses {
  readonly smtp: { readonly host: string; readonly port: number };
  /** Base URL of the ticket service, without a slash at the end. */
  readonly tickets: string;
}

/** What the services need of the worlds: who speaks with this name and secret? */
export interface ServiceDirectory {
  authenticate(worldId: string, secret: string): Promise<ServiceSession | null>;
}
