// Limits of removals that are followed without a confirmation.

/** A removal that is larger, and more than half of a folder or of the account, waits for a confirmation (docs/design/outside-accounts.md §8). */
export const MASS_CONFIRM_MESSAGES = 1_000
