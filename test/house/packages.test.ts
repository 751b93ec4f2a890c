// Dependencies: few packages, each with its reason, nothing to compile, and a lock file without URLs.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT, sources } from '../support/source.ts'

const MOST_DEPENDENCIES = 30

interface LockEntry {
  resolved?: string
  dev?: boolean
  link?: boolean
  hasInstallScript?: boolean
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  allowScripts: Record<string, boolean>
}
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>
}
const dependencies = Object.keys(manifest.dependencies)

test('at most thirty runtime dependencies, each with a reason', () => {
  const plan = readFileSync(join(ROOT, 'docs/design/libraries.md'), 'utf8')
  assert.ok(dependencies.length <= MOST_DEPENDENCIES, `${dependencies.length} of ${MOST_DEPENDENCIES}`)
  const silent = dependencies.filter((name) => !plan.includes(`| \`${name}\` |`))
  assert.deepEqual(silent, [], 'docs/design/libraries.md gives no reason for these')
})

test('src imports runtime dependencies only, and uses all of them', () => {
  const used = new Map<string, string>()
  for (const { path, imports } of sources()) {
    for (const { specifier, file } of imports) {
      if (file !== null || specifier.startsWith('node:') || specifier.startsWith('#')) continue
      used.set(
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
        path,
      )
    }
  }
  const wrong = [...used].filter(([name]) => !dependencies.includes(name) || builtinModules.includes(name))
  assert.deepEqual(wrong, [], 'not a runtime dependency (or a module of Node without node:)')
  assert.deepEqual(
    dependencies.filter((name) => !used.has(name)),
    [],
    'used nowhere in src',
  )
})

/** Seals forwarded messages with mailauth. */
const SEALS = 'src/auth/arc-seal.ts'

test('the message inspection is loaded by the threads that inspect only: it is large, and other threads never call it', () => {
  const readers = (isMeant: (specifier: string, file: string | null) => boolean) =>
    sources().flatMap(({ path, imports }) =>
      imports.some(({ specifier, file }) => isMeant(specifier, file)) ? [path] : [],
    )
  assert.deepEqual(
    readers((specifier) => /^mailauth\/lib\//.test(specifier)).filter(
      (path) => !/mailauth\.d\.ts$/.test(path) && path !== SEALS,
    ),
    [
      ...['src/auth/a-labels.ts', 'src/auth/authenticate.ts', 'src/auth/dmarc.ts'],
      ...['src/auth/parsed-fields.ts', 'src/auth/signatures.ts'],
    ],
  )
  assert.deepEqual(
    readers((_, file) => file === 'src/auth/parsed-fields.ts'),
    [SEALS, 'src/auth/signature-verifier.ts'],
  )
  // The thread that sends loads it with the first forwarded message.
  assert.deepEqual(
    readers((_, file) => file === SEALS),
    ['src/outbound/runner/seal.ts'],
  )
  const sealer = sources().find(({ path }) => path === 'src/outbound/runner/seal.ts')!.text
  assert.match(sealer, /await import\('\.\.\/\.\.\/auth\/arc-seal\.ts'\)/)
  assert.doesNotMatch(sealer, /^import .*arc-seal/m)
  assert.deepEqual(
    readers((_, file) => file === 'src/auth/authenticate.ts'),
    ['src/workers/inspect.ts'],
  )
  assert.deepEqual(
    readers((_, file) => file === 'src/workers/inspect.ts'),
    ['src/inbound/receive-thread.ts', 'src/workers/inspect-thread.ts'],
  )
})

test('the style sheet parser is loaded only by threads that read HTML', () => {
  const all = new Map(sources().map((source) => [source.path, source]))
  const heavy = /^(?:css-tree|css-select|css-what|culori)(?:\/|$)/
  const loaders = [...all.values()].filter(({ imports }) => imports.some(({ specifier }) => heavy.test(specifier)))
  const code = loaders.map(({ path }) => path).filter((path) => !path.endsWith('.d.ts'))
  assert.ok(code.length > 0)
  const loading = new Set(code)
  /** Files that load one of these, directly or not; an import of types alone loads nothing, and an address starts a thread of its own. */
  for (let size = -1; size !== loading.size; ) {
    size = loading.size
    for (const { path, text, imports } of all.values()) {
      const loads = imports.some(({ file, line }) => {
        const statement = text
          .split('\n')
          .slice(line - 1, line)
          .join('')
        return file !== null && loading.has(file) && !/^\s*(?:import|export) type\b|\bnew URL\(/.test(statement)
      })
      if (loads) loading.add(path)
    }
  }
  const outside = [...loading].filter(
    (path) => !/^src\/(?:content|html)\/|^src\/workers\/(?:clean|extract)-/.test(path),
  )
  assert.deepEqual(outside, [])
  for (const path of [
    'src/workers/cleaner.ts',
    'src/content/clean/content.ts',
    'src/html/visible-text.ts',
    'src/main.ts',
  ])
    assert.ok(!loading.has(path), path)
})

test('the lock file has versions and checksums, no URLs', () => {
  // A workspace is a link to its folder.
  const placed = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined && !entry.link)
  assert.deepEqual(
    placed.map(([path]) => path),
    [],
  )
})

test('no package runs or compiles anything at install except Node itself', () => {
  const scripted = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript)
  // esbuild works without its script, which only replaces a launcher by the program.
  const runs = scripted.filter(([path]) => manifest.allowScripts[path.replace('node_modules/', '')] !== false)
  assert.deepEqual(
    runs.map(([path]) => path),
    ['node_modules/node'],
  )
  assert.deepEqual(manifest.allowScripts, { esbuild: false, node: true })
  assert.deepEqual(globSync('node_modules/**/binding.gyp', { cwd: ROOT }), [])
})
