// The listeners for mail programs, by their names in the settings.

/** Listeners for mail programs, in the order of `CLIENT_PUBLIC_PORTS`. */
export const CLIENT_LISTENERS = ['imaps', 'imap', 'submissions', 'submission', 'managesieve'] as const
export type ClientListener = (typeof CLIENT_LISTENERS)[number]
