// The English texts of the mail pages: what a language of theirs replaces.

export { common } from './en/common.ts'
export { compose } from './en/compose.ts'
export { foreign } from './en/foreign.ts'
export { mail } from './en/mail.ts'
export { shell } from './en/shell.ts'
