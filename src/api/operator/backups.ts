// Backups of the whole appliance, for the operator. They are not served: a backup holds the secret of the appliance and all mail.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import { answer, route } from '../../http/route.ts'
import { listOf, Nullable, Words } from '../../http/schema.ts'
import { BACKUP_NAME, type BackupRecord, LISTED_MAX } from '../../maintenance/backup/backups.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'

const Bytes = Type.Integer({ minimum: 0 })
const BackupName = Type.String({ pattern: BACKUP_NAME })

const Backup = record('Backup', 'A backup of the whole appliance.', {
  name: { ...BackupName, description: 'Name of its file in the folder of backups (`BACKUP_DIR`).' },
  status: Words(['running', 'complete', 'failed'], 'complete: it was read back and verified.'),
  started_at: TimeOf('When it was started.'),
  size_bytes: Nullable({ ...Bytes, description: 'Null until it is complete.' }),
  messages: Nullable({ ...Bytes, description: 'How many messages it holds; null for backups of earlier runs.' }),
  progress: Nullable(
    record('BackupProgress', 'The step that runs.', {
      label: Type.String({ examples: ['Copying blobs.db'] }),
      unit: Words(['bytes', 'messages', 'contents']),
      done: Bytes,
      total: Nullable({ ...Bytes, description: 'Null where it is not known.' }),
    }),
  ),
  failure: Nullable(Type.String({ description: 'Why it failed, in a sentence.' })),
  damage: Nullable(
    Type.String({
      description:
        'Which messages in it are damaged, because they were so in the appliance; null when none is, and for backups of earlier runs.',
    }),
  ),
})

const listBackups = route({
  method: 'GET',
  surface: 'operator',
  path: '/backups',
  docs: {
    operation: 'listBackups',
    tag: 'Service',
    summary: 'List the backups in the folder of backups, newest first',
    description:
      `The newest ${LISTED_MAX}, and the one that runs or has failed since the start. A backup cannot be fetched here: it holds the secret ` +
      'of the appliance and all mail. `mailstead restore` reads it on the machine. 503 when the folder cannot be read.',
    errors: ['service_unavailable'],
  },
  access: { as: 'operator' },
  reply: { schema: listOf(Backup), list: 'whole' },
  async handle({ app }) {
    return { items: (await app.maintenance.backups.list()).map(presentBackup), next: null }
  },
})

const createBackup = route({
  method: 'POST',
  surface: 'operator',
  path: '/backups',
  docs: {
    operation: 'createBackup',
    tag: 'Service',
    summary: 'Start a backup of the whole appliance, as `mailstead backup` makes it; one at a time (409)',
    description:
      'It is made beside the work of the appliance and read back before it counts. 503 without room on the disk.',
    errors: ['conflict', 'service_unavailable'],
  },
  access: { as: 'operator' },
  limits: { throttle: { times: 6, seconds: 3600 } },
  reply: { schema: Backup, status: 202 },
  async handle({ app }) {
    const made = await app.maintenance.backups.start()
    const headers = { Location: `/operator/v1/backups/${made.name}` }
    return answer({ data: presentBackup(made), status: 202, headers })
  },
})

const readBackup = route({
  method: 'GET',
  surface: 'operator',
  path: '/backups/{backup_name}',
  docs: { operation: 'getBackup', tag: 'Service', summary: 'Get a backup with its progress' },
  access: { as: 'operator' },
  params: Type.Object({ backup_name: BackupName }),
  reply: { schema: Backup },
  async handle({ params: { backup_name: name }, app }) {
    const found = await app.maintenance.backups.get(name)
    if (found === undefined) throw notFound('backup')
    return presentBackup(found)
  },
})

function presentBackup(one: BackupRecord): Static<typeof Backup> {
  const { name, status, startedAt, sizeBytes, messages, progress, failure, damage } = one
  return {
    ...{ name, status, started_at: isoTime(startedAt), size_bytes: sizeBytes, messages, failure, damage },
    progress: progress === null ? null : { ...progress },
  }
}

export const operatorBackups = [listBackups, createBackup, readBackup]
