// Takes the browser script of Scalar out of its npm package into docs/reference, compressed: node scripts/run.js scripts/reference.ts [version]
// Without a version it rebuilds the file of the version in docs/reference/scalar.json and verifies its checksums.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { gzipSync } from 'node:zlib'

const PACKAGE = '@scalar/api-reference'
const FOLDER = join(import.meta.dirname, '../docs/reference')
const MANIFEST = join(FOLDER, 'scalar.json')

interface Manifest {
  package: string
  version: string
  /** Checksum of the package, as the registry publishes it. */
  integrity: string
  sha256: string
  /** SHA-256 of the <style> elements the script adds; test/flows/docs.test.ts names those that are missing. */
  styles: string[]
}

const known = JSON.parse(readFileSync(MANIFEST, 'utf8')) as Manifest
const version = process.argv[2] ?? known.version
const work = mkdtempSync(join(tmpdir(), 'mailstead-reference-'))
try {
  const packed = execFileSync('npm', ['pack', `${PACKAGE}@${version}`, '--json', '--ignore-scripts'], { cwd: work })
  const [{ filename, integrity }] = JSON.parse(packed.toString()) as [{ filename: string; integrity: string }]
  const take = (file: string) =>
    execFileSync('tar', ['-xzOf', join(work, filename), `package/${file}`], { maxBuffer: 64 * 1024 * 1024 }).toString()
  // The source map is not served: without this line no browser asks for it.
  const script = take('dist/browser/standalone.js').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
  const sha256 = createHash('sha256').update(script).digest('hex')
  if (version === known.version && (integrity !== known.integrity || sha256 !== known.sha256)) {
    throw new Error(`${PACKAGE} ${version} is not what docs/reference/scalar.json says.`)
  }
  writeFileSync(join(FOLDER, 'scalar.js.gz'), gzipSync(script, { level: 9 }))
  writeFileSync(MANIFEST, `${JSON.stringify({ ...known, version, integrity, sha256 }, null, 2)}\n`)
  console.log(`${PACKAGE} ${version}: ${script.length} characters, sha256 ${sha256}`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
