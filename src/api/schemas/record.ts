// The common form of schemas, for the schemas of this folder.

export { record } from '../../http/record.ts'
