/** What every file says that holds data of trials: no key encrypts it, and nothing that removes data from the store finds it. */
export const IN_CLEAR =
  'This file holds data of the trials in clear, personal data among them where the cases have any. Send it only to whom that may be shown, keep it where they alone can read it, and delete it when it is no longer needed: neither encryption of the store nor purge reaches it.';
