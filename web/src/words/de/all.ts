// The German texts of the mail pages; one line for each file of this folder.

export { common } from './common.ts'
export { compose } from './compose.ts'
export { foreign } from './foreign.ts'
export { mail } from './mail.ts'
export { shell } from './shell.ts'
