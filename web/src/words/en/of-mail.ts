// The English texts of the mail pages: what a language of theirs replaces.

export { common } from './common.ts'
export { compose } from './compose.ts'
export { foreign } from './foreign.ts'
export { mail } from './mail.ts'
export { shell } from './shell.ts'
