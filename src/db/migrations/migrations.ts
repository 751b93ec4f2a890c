// The list of steps, in order, for each of the two files.

import { directoryTables } from './0001-directory.ts'
import { mailTables } from './0002-mail.ts'
import { outboundTables } from './0003-outbound.ts'
import { eventTables } from './0004-events.ts'
import { blobTables } from './blobs-0001-blobs.ts'

export const mailMigrations = [directoryTables, mailTables, outboundTables, eventTables]
export const blobMigrations = [blobTables]
