// The data folder (DATA_DIR): created when it is missing, with the root secret and a self-signed certificate.

import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { constants } from 'node:fs'
import { access, link, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { DAY_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'
import { randomName } from '../base/ids.ts'
import { type CertificatePair, selfSigned } from './certificate.ts'
import { clientHost } from './client-protocols.ts'
import type { Config } from './config.ts'
import { makeFolder } from './make-folder.ts'

/** The contents of `DATA_DIR` that the server uses, other than the databases. */
export interface DataFolder {
  /** Absolute. */
  path: string
  /** Folder for long messages while they are received; emptied at every start. */
  spool: string
  /** The root of every derived key: the bytes of the text of `APP_SECRET`. */
  secret: Buffer
  /** Where the secret was read from, as the subject of an error message. */
  secretSource: string
  /** Certificate and key of the listeners, PEM. */
  tls: CertificatePair
  /** Reads both again. @throws ProductError as `openDataFolder` */
  readTls(): Promise<CertificatePair>
}

/** Marker file that exists while a backup is being restored into the folder, and after an interrupted restore. */
export const RESTORING = 'restoring'

const SECRET_BYTES = 32
const TEN_YEARS_MS = 3650 * DAY_MS
/** A peer whose clock is a day behind still accepts the certificate. */
const SLACK_MS = DAY_MS

/**
 * Opens `DATA_DIR` and creates what is missing.
 * @throws ProductError whose message says what is wrong and what to do
 */
export async function openDataFolder(config: Config): Promise<DataFolder> {
  const path = resolve(config.DATA_DIR)
  const keys = join(path, 'keys')
  try {
    await makeFolder(path)
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    if (await exists(join(path, RESTORING))) {
      throw wrong(
        `A restore into ${path} is running or was interrupted; empty the folder and restore the backup again.`,
      )
    }
    await mkdir(keys, { recursive: true, mode: 0o700 })
    const file = join(keys, 'app-secret')
    const secret = await openSecret(config, path, file)
    const secretSource = config.APP_SECRET === '' ? file : 'The setting APP_SECRET'
    const readTls = () => openCertificate(config, keys)
    return { path, spool: join(path, 'spool'), secret, secretSource, tls: await readTls(), readTls }
  } catch (error) {
    if (error instanceof ProductError) throw error
    throw folderError(path, error as NodeJS.ErrnoException)
  }
}

function folderError(path: string, error: NodeJS.ErrnoException): ProductError {
  const at = error.path ?? path
  switch (error.code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return wrong(`${at} is a file, not a folder; set DATA_DIR to a folder.`, error)
    case 'ENOENT':
      return wrong(`The folder ${at} cannot be created; set DATA_DIR to a folder on a disk.`, error)
    case 'EACCES':
    case 'EPERM':
      return wrong(
        `${at} cannot be read and written by this user; change its owner or set DATA_DIR to another folder.`,
        error,
      )
    case 'EROFS':
      return wrong(`${at} is on a read-only file system; set DATA_DIR to a writable folder.`, error)
    case 'ENOSPC':
      return wrong(
        `There is no space left on the disk of ${at}; free some space or set DATA_DIR to a folder on another disk.`,
        error,
      )
    default:
      return wrong(`The data folder ${path} cannot be used: ${error.message}.`, error)
  }
}

async function openSecret(config: Config, folder: string, file: string): Promise<Buffer> {
  if (config.APP_SECRET !== '') return Buffer.from(config.APP_SECRET)
  const known = await readText(file)
  if (known === undefined) {
    // A new secret could not decrypt what was encrypted with the missing one.
    if (await exists(join(folder, 'mail.db'))) {
      throw wrong(
        `${file} is missing although ${folder} contains a database; restore the file from a backup, or set APP_SECRET to its content.`,
      )
    }
    await createFile(file, randomBytes(SECRET_BYTES).toString('base64url'))
  }
  const secret = Buffer.from((known ?? (await readText(file)) ?? '').trim())
  if (secret.length < SECRET_BYTES) {
    throw wrong(`${file} contains less than ${SECRET_BYTES} bytes; restore the file from a backup.`)
  }
  return secret
}

async function openCertificate(config: Config, keys: string): Promise<CertificatePair> {
  if (config.TLS_CERT_FILE !== '') return readCertificate(config.TLS_CERT_FILE, config.TLS_KEY_FILE)
  const file = join(keys, 'smtp.pem')
  const [host, ...others] = new Set([config.MAIL_HOSTS[0]!, clientHost(config)])
  const known = await readText(file)
  if (known !== undefined && [host!, ...others].every((one) => fits(known, one))) return { cert: known, key: known }
  const now = systemClock.now()
  const made = await selfSigned(host!, now - SLACK_MS, now + TEN_YEARS_MS, others)
  // Both in one file, so that a crash cannot leave a key and a certificate that do not match.
  const both = made.key + made.cert
  await replaceFile(file, both)
  return { cert: both, key: both }
}

/** Whether a generated certificate can still be used: it is replaced when it does not contain a host name or it has expired. */
function fits(pem: string, host: string): boolean {
  try {
    const certificate = new X509Certificate(pem)
    const isKey = certificate.checkPrivateKey(createPrivateKey(pem))
    return isKey && certificate.checkHost(host) !== undefined && certificate.validToDate.getTime() > systemClock.now()
  } catch {
    return false
  }
}

async function readCertificate(certFile: string, keyFile: string): Promise<CertificatePair> {
  const read = async (setting: string, file: string) => {
    const text = await readText(file)
    if (text === undefined) throw wrong(`The setting ${setting} names ${file}, which does not exist.`)
    return text
  }
  const pair = { cert: await read('TLS_CERT_FILE', certFile), key: await read('TLS_KEY_FILE', keyFile) }
  let belongs: boolean
  try {
    belongs = new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))
  } catch (error) {
    throw wrong(
      'The files of the settings TLS_CERT_FILE and TLS_KEY_FILE are not a PEM certificate and its private key.',
      error,
    )
  }
  if (!belongs)
    throw wrong('The private key of the setting TLS_KEY_FILE does not match the certificate of TLS_CERT_FILE.')
  return pair
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined
}

/** Writes a file atomically; keeps the existing file when another process created it meanwhile. */
async function createFile(file: string, text: string): Promise<void> {
  const draft = await writeDraft(file, text)
  try {
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(draft)
  }
  await flushFolder(file)
}

/** Replaces a file so that a crash leaves the old or the new one. */
export async function replaceFile(file: string, text: string): Promise<void> {
  await rename(await writeDraft(file, text), file)
  await flushFolder(file)
}

async function writeDraft(file: string, text: string): Promise<string> {
  const draft = `${file}.${randomName(8)}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  return draft
}

// A new directory entry is durable only after its folder has been flushed.
async function flushFolder(file: string): Promise<void> {
  const handle = await open(join(file, '..'), 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function wrong(sentence: string, cause?: unknown): ProductError {
  return new ProductError('service_unavailable', sentence, { cause })
}
