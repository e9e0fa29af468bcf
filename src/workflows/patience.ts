/** Trouble of ours passes (a restarted Postgres, a lost worker), so short steps are tried again for a few minutes before an attempt is given up. */
export const PATIENT = {
  startToCloseTimeout: '60 seconds',
  scheduleToCloseTimeout: '4 minutes',
  retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
} as const;
