// The data folder: made once, kept as it is, and a sentence for everything that can be wrong with it.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openDataFolder } from '../../../src/config/data-folder.ts'
import { loadConfig } from '../../../src/config/load.ts'

let root: string
let dir: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mailstead-folder-'))
  dir = join(root, 'deep', 'data')
})
afterEach(() => rm(root, { recursive: true }))

const open = (env: Record<string, string> = {}) =>
  openDataFolder(loadConfig({ DATA_DIR: dir, MAIL_HOSTS: 'mx.example.org', ...env }, join(root, 'none')))
const modeOf = async (path: string) => (await stat(path)).mode & 0o777

describe('an empty folder', () => {
  it('gets a secret and a certificate that other users cannot read', async () => {
    const folder = await open()
    assert.equal(folder.path, dir)
    assert.equal(await modeOf(join(dir, 'keys')), 0o700)
    assert.deepEqual((await readdir(join(dir, 'keys'))).toSorted(), ['app-secret', 'smtp.pem'])
    for (const name of ['app-secret', 'smtp.pem']) assert.equal(await modeOf(join(dir, 'keys', name)), 0o600)
    const text = await readFile(join(dir, 'keys/app-secret'), 'utf8')
    assert.match(text, /^[\w-]{43}$/)
    assert.deepEqual(folder.secret, Buffer.from(text))
    const certificate = new X509Certificate(folder.tls.cert)
    assert.equal(certificate.checkHost('mx.example.org'), 'mx.example.org')
    const years = (certificate.validToDate.getTime() - certificate.validFromDate.getTime()) / (365.25 * 86_400_000)
    assert.equal(Math.round(years), 10)
  })

  it('gets the same secret when opened concurrently', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => open()))
    for (const { secret } of opened) assert.deepEqual(secret, opened[0]!.secret)
    assert.deepEqual((await readdir(join(dir, 'keys'))).toSorted(), ['app-secret', 'smtp.pem'])
  })
})

describe('a folder far below', () => {
  it('is made with its parents', async () => {
    const DATA_DIR = join(dir, 'a/b/c')
    assert.equal((await open({ DATA_DIR })).path, DATA_DIR)
    assert.equal((await open({ DATA_DIR: `${DATA_DIR}/../d/` })).path, join(dir, 'a/b/d'))
  })
})

describe('a folder in use', () => {
  it('keeps its secret and its certificate', async () => {
    const first = await open()
    const second = await open()
    assert.deepEqual(second.secret, first.secret)
    assert.equal(new X509Certificate(second.tls.cert).serialNumber, new X509Certificate(first.tls.cert).serialNumber)
  })

  it('takes the secret of the settings over its own, the same text being the same secret', async () => {
    const first = await open()
    const text = await readFile(join(dir, 'keys/app-secret'), 'utf8')
    assert.deepEqual((await open({ APP_SECRET: text })).secret, first.secret)
    assert.deepEqual((await open({ APP_SECRET: 'x'.repeat(32) })).secret, Buffer.from('x'.repeat(32)))
    await writeFile(join(dir, 'keys/app-secret'), `${text}\n`)
    assert.deepEqual((await open()).secret, first.secret, 'an editor that adds a line end does no harm')
  })

  it('makes a new trial certificate when its name changes or it is damaged', async () => {
    await open()
    const renamed = await open({ MAIL_HOSTS: 'mail.example.net' })
    assert.equal(new X509Certificate(renamed.tls.cert).subjectAltName, 'DNS:mail.example.net')
    await writeFile(join(dir, 'keys/smtp.pem'), 'nonsense')
    assert.equal(new X509Certificate((await open()).tls.cert).subjectAltName, 'DNS:mx.example.org')
  })

  it('generates a certificate for mail programs too, where they use another name', async () => {
    const [first, again] = [
      await open({ CLIENT_HOST: 'imap.example.org' }),
      await open({ CLIENT_HOST: 'imap.example.org' }),
    ]
    assert.equal(new X509Certificate(first.tls.cert).subjectAltName, 'DNS:mx.example.org, DNS:imap.example.org')
    assert.deepEqual(again.tls, first.tls)
    assert.deepEqual(await first.readTls(), first.tls, 'it is not new when it is read again')
  })

  it('takes the certificate of the settings as it is', async () => {
    const { tls } = await open()
    const [cert, key] = [join(root, 'cert.pem'), join(root, 'key.pem')]
    await writeFile(cert, new X509Certificate(tls.cert).toString())
    await writeFile(key, tls.key)
    const other = await open({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key, MAIL_HOSTS: 'other.example' })
    assert.equal(new X509Certificate(other.tls.cert).serialNumber, new X509Certificate(tls.cert).serialNumber)
  })
})

describe('what is wrong is said in one sentence that names it', () => {
  const says = (env: Record<string, string>, ...parts: string[]) =>
    assert.rejects(open(env), (error: Error) => {
      for (const part of parts) assert.ok(error.message.includes(part), `"${error.message}" says ${part}`)
      assert.doesNotMatch(error.message, /\n|\.\s/)
      return true
    })

  it('a file where the folder should be, or above it', async () => {
    const file = join(root, 'file')
    await writeFile(file, '')
    await says({ DATA_DIR: file }, file, 'is a file', 'DATA_DIR')
    await says({ DATA_DIR: join(file, 'below') }, file, 'is a file')
    await mkdir(dir, { recursive: true })
    await writeFile(join(dir, 'keys'), '')
    await says({}, join(dir, 'keys'), 'is a file')
  })

  it('a folder that cannot be created, instead of trying for ever', { timeout: 30_000 }, async () => {
    await says({ DATA_DIR: '/proc/mailstead/data' }, '/proc/mailstead', 'cannot be created', 'DATA_DIR')
  })

  it('a folder that cannot be written', async () => {
    await mkdir(dir, { recursive: true })
    await chmod(dir, 0o500)
    // Root may write everywhere: for this question it is somebody else.
    const isRoot = process.getuid?.() === 0
    if (isRoot) process.seteuid?.('nobody')
    try {
      await says({}, dir, 'cannot be read and written', 'DATA_DIR')
    } finally {
      if (isRoot) process.seteuid?.(0)
      await chmod(dir, 0o700)
    }
  })

  it('a folder that can never be made', async () => {
    await says({ DATA_DIR: '/dev/null/data' }, '/dev/null', 'is a file')
  })

  it('a missing secret in a folder with a database', async () => {
    await open()
    await writeFile(join(dir, 'mail.db'), '')
    await rm(join(dir, 'keys/app-secret'))
    await says({}, 'app-secret is missing', 'backup', 'APP_SECRET')
    assert.ok(!(await readdir(join(dir, 'keys'))).includes('app-secret'), 'no new one is made over it')
  })

  it('a secret that is cut off', async () => {
    await open()
    await writeFile(join(dir, 'keys/app-secret'), 'short')
    await says({}, 'app-secret', '32 bytes')
  })

  it('certificates of the settings that do not exist, are none, or do not belong together', async () => {
    const { tls } = await open()
    const other = await openDataFolder(loadConfig({ DATA_DIR: join(root, 'other') }, join(root, 'none')))
    const [cert, key, nonsense] = [join(root, 'cert.pem'), join(root, 'key.pem'), join(root, 'nonsense.pem')]
    await writeFile(cert, tls.cert)
    await writeFile(key, other.tls.key)
    await writeFile(nonsense, 'nonsense')
    await says({ TLS_CERT_FILE: join(root, 'none.pem'), TLS_KEY_FILE: key }, 'TLS_CERT_FILE', 'none.pem')
    await says({ TLS_CERT_FILE: cert, TLS_KEY_FILE: join(root, 'none.pem') }, 'TLS_KEY_FILE', 'none.pem')
    await says({ TLS_CERT_FILE: nonsense, TLS_KEY_FILE: key }, 'TLS_CERT_FILE')
    await says({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }, 'TLS_KEY_FILE', 'does not match')
  })
})
