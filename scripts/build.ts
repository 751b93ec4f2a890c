// `npm run build`: bundles the program and what it needs of its packages into dist/, one entry for each thread and process.

import { copyFileSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import process from 'node:process'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { BUILD_NOTE, checksumOf } from './bundle.js'

const ROOT = join(import.meta.dirname, '..')
const CLI = 'src/cli/cli.ts'
/** What Piscina starts as a thread, by this name beside the file it runs from. */
const POOL_WORKER = 'node_modules/piscina/dist/worker.js'
/** Files that the program reads beside its code. */
const DATA_FILES = ['src/spam/start-model.bin']
/** Inputs beside the sources: a change of one of them makes the bundle stale. */
const OTHER_INPUTS = ['package-lock.json', 'scripts/build.ts', ...DATA_FILES]

/** A call that names the file of a thread or process. */
const ENTRY_CALL = /entryFile\(\s*new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)\s*\)/g
/** Any file named beside the one that names it; one that is no entry would not exist in the bundle. */
const ANY_URL = /new URL\('[^']*\.ts', import\.meta\.url\)/g

/** What a package tries to load for a feature that is not used here: priorities of threads (Piscina), coloured debug output (debug). */
const OPTIONAL = ['@napi-rs/nice', 'supports-color']

/**
 * Modules of Node are taken as they are: an import of all names of `node:http` reads each of them, and one loads what `fetch` needs.
 */
const BUILTINS: Plugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z_:/0-9]+$/ }, ({ path, kind }) => {
      if (kind !== 'import-statement' || !isBuiltin(path)) return undefined
      return { path: path.replace(/^(?!node:)/, 'node:'), namespace: 'builtin' }
    })
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

const JAPANESE = "const encodingJapanese = require('encoding-japanese');"

/** The tables of Japanese charsets are read with the first message that needs them: 2 MB in each thread. */
const LAZY_TABLES: Plugin = {
  name: 'lazy-tables',
  setup({ onLoad }) {
    onLoad({ filter: /\/libmime\/lib\/charset\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes(JAPANESE))
        throw new Error('libmime loads its Japanese charsets in another way: see LAZY_TABLES.')
      const lazy = "const encodingJapanese = { convert: (...args) => require('encoding-japanese').convert(...args) };"
      return { contents: text.replace(JAPANESE, lazy) }
    })
  },
}

const OPTIONS: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // The ES module of a package that has both: only what is used of it is kept.
  mainFields: ['module', 'main'],
  // Names stay, and lines short: stack traces can be read without the source maps.
  minifyWhitespace: true,
  lineLimit: 160,
  minifySyntax: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  logLevel: 'silent',
  // Packages in CommonJS name their folder and load Node's modules by require.
  external: OPTIONAL,
  plugins: [BUILTINS, LAZY_TABLES],
  define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' },
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
}

interface Manifest {
  name: string
  version: string
  license: unknown
}

/** An import on first use. */
export interface LazyImport {
  /** The file that imports: a path in the project. */
  from: string
  /** What it names there. */
  specifier: string
  /** The imported file: a path in the project. */
  input: string
  /** The file of the bundle that stands for it. */
  output: string
}

/** What a build made. */
export interface Bundle {
  /** Files with their size in bytes, source maps left out. */
  files: Map<string, number>
  /** Packages that are not in the bundle and have to be installed. */
  external: string[]
  lazyImports: LazyImport[]
}

/** Files that run as a thread or a process: paths in the project. @throws Error for a file that only the sources have */
export function findEntries(): string[] {
  const entries: string[] = []
  for (const path of globSync('src/**/*.ts', { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, path), 'utf8')
    const found = [...text.matchAll(ENTRY_CALL)].map(([, name]) => join(path, '..', `${name}.ts`))
    const named = text.match(ANY_URL)?.length ?? 0
    if (path !== 'src/base/entry.ts' && named > found.length)
      throw new Error(`${path} names a file without entryFile().`)
    entries.push(...found)
  }
  return entries.sort()
}

/**
 * Entries that are built together share files. Threads of a pool share Piscina with its worker, which must be there once;
 * everything else is built alone: one file, and one more for what is loaded on first use.
 */
function groupEntries(): string[][] {
  const entries = findEntries()
  const isPooled = (path: string) => path.endsWith('-thread.ts') && !/^src\/(jobs|inbound)\//.test(path)
  const pooled = entries.filter(isPooled)
  return [[CLI], [...pooled, POOL_WORKER], ...entries.filter((path) => !isPooled(path)).map((path) => [path])]
}

/**
 * Builds the bundle. The folder is replaced when it is complete.
 * @throws Error what is wrong with a source, the first one
 */
export async function buildBundle(folder = join(ROOT, 'dist')): Promise<Bundle> {
  const made = `${folder}.new`
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made, { recursive: true })
  const results = await Promise.all(groupEntries().map((entries) => buildGroup(entries, made)))
  const read = results.flatMap((result) => Object.keys(result.inputs))
  writeFileSync(join(made, 'LICENSES.txt'), licencesOf(read))
  for (const path of DATA_FILES) copyFileSync(join(ROOT, path), join(made, basename(path)))
  const lazyImports = results.flatMap(lazyImportsOf)
  writeNote(made, read, lazyImports)
  rmSync(folder, { recursive: true, force: true })
  renameSync(made, folder)
  const outputs = results.flatMap((result) => Object.entries(result.outputs))
  const code = outputs.filter(([path]) => path.endsWith('.js'))
  return {
    files: new Map(code.map(([path, { bytes }]) => [basename(path), bytes])),
    external: externalOf(outputs.flatMap(([, { imports }]) => imports)),
    lazyImports,
  }
}

/** @param read the files that were read: paths in the project */
function writeNote(folder: string, read: readonly string[], lazyImports: readonly LazyImport[]): void {
  const own = read.filter((path) => path.startsWith('src/'))
  const inputs = [...new Set([...own, ...OTHER_INPUTS])].sort()
  // Several builds have a file for some modules: the first is the build of the command line.
  const modules = Object.fromEntries(lazyImports.toReversed().map(({ input, output }) => [input, output]))
  const note = { inputs, checksum: checksumOf(ROOT, inputs), modules }
  writeFileSync(join(folder, BUILD_NOTE), `${JSON.stringify(note, null, 1)}\n`)
}

function lazyImportsOf({ inputs, outputs }: Metafile): LazyImport[] {
  const outputOf = new Map(Object.entries(outputs).map(([path, { entryPoint }]) => [entryPoint, basename(path)]))
  return Object.entries(inputs).flatMap(([from, { imports }]) =>
    imports
      .filter(({ path, kind, external }) => kind === 'dynamic-import' && !external && outputOf.has(path))
      .map(({ path, original }) => ({ from, specifier: original!, input: path, output: outputOf.get(path)! })),
  )
}

/** The licences of the packages in the bundle, which have to be passed on with it. */
function licencesOf(inputs: readonly string[]): string {
  const folders = inputs.map((path) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
  const texts = [...new Set(folders)].sort().flatMap((folder) => {
    if (folder === undefined) return []
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest
    const files = globSync('{LICEN[CS]E,licen[cs]e,NOTICE}*', { cwd: join(ROOT, folder) }).sort()
    const content = files.map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim())
    return [`${name} ${version} (${String(license)})`, ...content].join('\n\n')
  })
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

async function buildGroup(entries: readonly string[], folder: string): Promise<Metafile> {
  const named = entries.map((path) => ({ in: path, out: basename(path).replace(/\.[tj]s$/, '') }))
  const result = await build({
    ...OPTIONS,
    entryPoints: named,
    outdir: folder,
    // Chunks of two builds must not share a name.
    chunkNames: `${entries.length > 1 ? 'pool' : named[0]!.out}-[hash]`,
  })
  for (const path of Object.keys(result.metafile!.outputs)) if (path.endsWith('.js')) escapeLetters(join(ROOT, path))
  return result.metafile!
}

/** Escapes what is not ASCII, by now in regular expressions only: one such character doubles the memory of the whole text in V8. */
function escapeLetters(file: string): void {
  const text = readFileSync(file, 'utf8')
  const escaped = text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  if (escaped !== text) writeFileSync(file, escaped)
}

function externalOf(imports: readonly { path: string; external?: boolean }[]): string[] {
  const foreign = imports.filter(({ path, external }) => external && !isBuiltin(path) && !OPTIONAL.includes(path))
  return [...new Set(foreign.map(({ path }) => path))].sort()
}

if (import.meta.main) {
  const started = performance.now()
  const { files, external } = await buildBundle()
  const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1024).toLocaleString('en')} KB`.padStart(10)
  const shown = [...files].filter(([name]) => !name.includes('-') || !/-[A-Z0-9]{8}\.js$/.test(name))
  for (const [name, bytes] of shown.sort()) console.log(`${kilobytes(bytes)}  dist/${name}`)
  const others = [...files.values()].reduce((sum, bytes) => sum + bytes, 0)
  console.log(`${kilobytes(others)}  in ${files.size} files, ${((performance.now() - started) / 1000).toFixed(1)} s`)
  if (external.length > 0) console.log(`Not in the bundle: ${external.join(', ')}`)
  process.exitCode = 0
}
