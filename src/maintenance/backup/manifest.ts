// What a backup says of itself: the first member of its archive, held against everything that follows.

import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { ProductError } from '../../base/errors.ts'
import { blobMigrations, mailMigrations } from '../../db/migrations/migrations.ts'

export const MANIFEST = 'manifest.json'
export const MANIFEST_BYTES_MAX = 65_536
const VERSION = 3
/** Backups of the first version do not say of which appliance they are, those before the third not how many contents were damaged. */
const VERSION_MIN = 1

/** The parts of a data folder that are backed up: all but the spool, whose messages were not accepted yet, and the lock. */
export const KEPT = ['mail.db', 'blobs.db', 'keys/app-secret', 'keys/smtp.pem'] as const
export type KeptPath = (typeof KEPT)[number]

const Count = Type.Integer({ minimum: 0 })

const CLOSED = { additionalProperties: false }
const Manifest = Type.Object(
  {
    format: Type.Literal('mailstead-backup'),
    version: Type.Integer({ minimum: 1 }),
    made_at: Type.String({ maxLength: 30 }),
    // Which appliance it is of: both databases say the same. Left out by one that has not been started since it got its id.
    appliance_id: Type.Optional(Type.String({ pattern: '^[a-z0-9]{24}$' })),
    // The form of each database: a program that knows only earlier ones cannot read it.
    forms: Type.Object({ mail: Count, blobs: Count }, CLOSED),
    // Shows whether a secret is the one of the appliance without disclosing it.
    secret_check: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    counts: Type.Object({ messages: Count, contents: Count, content_bytes: Count }, CLOSED),
    // Contents that were damaged in the appliance. Left out where there were none.
    damaged_contents: Type.Optional(Count),
    files: Type.Array(
      Type.Object(
        {
          path: Type.Enum([...KEPT]),
          size_bytes: Count,
          sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        },
        CLOSED,
      ),
      { maxItems: KEPT.length },
    ),
  },
  CLOSED,
)
export type Manifest = Static<typeof Manifest>
export type ManifestFile = Manifest['files'][number]

/** Bytes of all files a manifest names. */
export function sizeOf({ files }: Pick<Manifest, 'files'>): number {
  return files.reduce((sum, { size_bytes: bytes }) => sum + bytes, 0)
}

/** A manifest of this version. */
export function manifestOf(rest: Omit<Manifest, 'format' | 'version'>): Manifest {
  return { format: 'mailstead-backup', version: VERSION, ...rest }
}

/**
 * Reads the manifest of `archive`, whose name is for the sentence alone.
 * @throws ProductError when it is none, or one of a newer program
 */
export function readManifest(text: string, archive: string): Manifest {
  const value = parse(text)
  const version = Number((value as { version?: unknown } | null)?.version)
  if (!(version >= VERSION_MIN && version <= VERSION) || !Compile(Manifest).Check(value)) {
    const isNewer = version > VERSION
    throw isNewer ? newer(archive) : new ProductError('invalid_parameter', `${archive} is not a Mailstead backup.`)
  }
  const manifest = value as Manifest
  const paths = manifest.files.map(({ path }) => path)
  const isWhole = new Set(paths).size === paths.length && paths.includes('mail.db') && paths.includes('blobs.db')
  if (!isWhole)
    throw new ProductError('invalid_parameter', `${archive} is not a complete backup: its list of files is wrong.`)
  const { mail, blobs } = manifest.forms
  if (mail > mailMigrations.at(-1)!.number || blobs > blobMigrations.at(-1)!.number) throw newer(archive)
  return manifest
}

function newer(archive: string): ProductError {
  return new ProductError(
    'conflict',
    `${archive} was made by a newer version of Mailstead: restore it with that version or a later one.`,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
