// Timestamps of records, for the schemas of this folder.

export { isoTimeOrNull, TimeOf, TimeOrNull } from '../../http/time.ts'
