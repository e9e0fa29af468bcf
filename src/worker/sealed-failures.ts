import { DefaultFailureConverter } from '@temporalio/common';

/** For activities, where payloads are encrypted: what of a failure is text goes where the codec sees it. The SDK loads it by its place. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
