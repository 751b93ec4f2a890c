// The applications that the pages are bundled into, and where each begins.

/** Paths are seen from the folder `web`. */
export interface Shell {
  name: string
  script: string
  style: string
}

/** `console` holds the sign-in, the first run, the console, the pages of the operator and those of the person; `mail` the mailboxes. */
export const SHELLS: readonly Shell[] = [
  { name: 'console', script: 'src/console.tsx', style: 'src/look/console.css' },
  { name: 'mail', script: 'src/mail.tsx', style: 'src/look/mail.css' },
]
