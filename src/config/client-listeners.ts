// The listeners for mail programs, by their names in the settings.

/** Listeners for mail programs, in the order of `CLIENT_PUBLIC_PORTS`. */
export const CLIENT_LISTENERS = ['imaps', 'imap', 'submissions', 'submission', 'managesieve'] as const
export type ClientListener = (typeof CLIENT_LISTENERS)[number]

/** The setting with the TCP port of each listener. */
export const LISTENER_PORTS = {
  imaps: 'IMAPS_PORT',
  imap: 'IMAP_PORT',
  submissions: 'SUBMISSIONS_PORT',
  submission: 'SUBMISSION_PORT',
  managesieve: 'MANAGESIEVE_PORT',
} as const satisfies Record<ClientListener, string>
