// The list of steps, in order, for each of the two files.

import { directoryTables } from './0001-directory.ts'
import { mailTables } from './0002-mail.ts'
import { blobTables } from './blobs-0001-blobs.ts'

export const mailMigrations = [directoryTables, mailTables]
export const blobMigrations = [blobTables]
