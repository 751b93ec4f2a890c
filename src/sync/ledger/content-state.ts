// The state of the content of a message of an outside account.

/**
 * `known`: it is stored here. `missing`: its head is stored, its content is not; `unreadable`: it is not fetched; `headless`: its UID
 * only; `erased`: it was deleted here, and is to be removed there; `restoring`: it was deleted here, and is to be fetched again.
 */
export const CONTENT = { known: 0, missing: 1, unreadable: 2, headless: 3, erased: 4, restoring: 5 } as const
