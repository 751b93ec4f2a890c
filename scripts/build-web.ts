// `npm run build:web`: bundles the pages of web/src into web/dist with hashed names, compressed copies and a manifest; `dev:web` repeats it.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { ICONS } from '../web/src/look/icons.ts'
import { SHELLS, type Shell } from '../web/src/shells.ts'
import { checksumOf } from './bundle.js'
import { WEB_DIST, webInputs } from './web-freshness.js'

const ROOT = join(import.meta.dirname, '..')
const WEB = join(ROOT, 'web')
const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** Most bytes, compressed with gzip: the scripts of a first load, all style sheets, the icons, and a part that is loaded later. */
const BUDGETS = { script: 120_000, style: 20_000, icons: 12_000, part: 60_000 } as const

/** Of a file and of its copies with `.gz` and `.br`. */
export interface FileSizes {
  bytes: number
  gzip: number
  br: number
}

/** What one application loads: names of files in web/dist. */
export interface WebEntry {
  /** The module that starts it. */
  script: string
  styles: string[]
  /** Modules that the first page needs as well. */
  preload: string[]
  /** A script that runs before the first paint. */
  early: string
  /** The icon of the page. */
  icon: string
}

/** web/dist/manifest.json, as the server reads it. `version` changes with the content of any file; sizes are in bytes. */
export interface WebManifest {
  version: string
  entries: Record<string, WebEntry>
  sizes: Record<string, FileSizes>
  checksum: string
}

const OPTIONS: BuildOptions = {
  absWorkingDir: WEB,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['chrome120', 'firefox121', 'safari17.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  legalComments: 'none',
  metafile: true,
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  loader: { '.svg': 'file' },
  assetNames: '[name]-[hash]',
  publicPath: '/assets',
  logLevel: 'silent',
}

/** The icons that are used, as one file of symbols. @returns its name */
function writeIcons(folder: string): string {
  const symbols = ICONS.map((name) => {
    const svg = readFileSync(join(ROOT, 'node_modules/lucide-static/icons', `${name}.svg`), 'utf8')
    const content = svg.slice(svg.indexOf('>', svg.indexOf('<svg')) + 1, svg.lastIndexOf('</svg>'))
    return `<symbol id="${name}" viewBox="0 0 24 24">${content.replace(/\s*\n\s*/g, '')}</symbol>`
  })
  return writeHashed(folder, 'icons', '.svg', `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>\n`)
}

/** Writes a file whose name has a part of its checksum. @returns the name */
function writeHashed(folder: string, name: string, suffix: string, text: string): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8).toUpperCase()
  writeFileSync(join(folder, `${name}-${hash}${suffix}`), text)
  return `${name}-${hash}${suffix}`
}

/** Outputs that are loaded with this one. */
function loadedWith(output: string, { outputs }: Metafile, found = new Set<string>()): Set<string> {
  if (found.has(output)) return found
  found.add(output)
  for (const { path, kind, external } of outputs[output]?.imports ?? []) {
    if (kind === 'import-statement' && !external) loadedWith(path, { inputs: {}, outputs }, found)
  }
  return found
}

/** Modules of the pages that are loaded on first use. */
function loadedLater({ inputs }: Metafile): Set<string> {
  const found = Object.values(inputs).flatMap(({ imports }) => imports.filter(({ kind }) => kind === 'dynamic-import'))
  return new Set(found.map(({ path }) => path).filter((path) => path.startsWith('src/')))
}

/** Modules that are imported by these ones, and those that they import. Paths as in `Metafile`. */
function importedBy(entries: readonly string[], { inputs }: Metafile): Set<string> {
  const found = new Set<string>()
  const follow = (path: string): void => {
    for (const { path: to, kind } of inputs[path]?.imports ?? []) {
      if (kind !== 'import-statement' || found.has(to)) continue
      found.add(to)
      follow(to)
    }
  }
  for (const entry of entries) follow(entry)
  return found
}

const FIRST_LOAD = 'first-load'

/**
 * Keeps what the first page loads in one file. The bundler puts modules into one file that the same parts need; some parts need only some of
 * these modules, so that they came as twenty files. Here every part that is loaded later names them all: they are there already.
 */
function undivided(shell: Shell, meta: Metafile): Plugin {
  const first = [...importedBy([shell.script], meta)]
  const later = loadedLater(meta)
  return {
    name: FIRST_LOAD,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^${FIRST_LOAD}$`) }, ({ path }) => ({ path, namespace: FIRST_LOAD }))
      onLoad({ filter: /./, namespace: FIRST_LOAD }, () => ({
        contents: first.map((path) => `import ${JSON.stringify(join(WEB, path))}`).join('\n'),
        resolveDir: WEB,
      }))
      onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
        if (!later.has(relative(WEB, path))) return
        return { contents: `${readFileSync(path, 'utf8')}\nimport '${FIRST_LOAD}'\n`, loader: 'tsx' }
      })
    },
  }
}

function entryOf(shell: Shell, meta: Metafile, shared: Pick<WebEntry, 'early' | 'icon'>): WebEntry {
  const outputOf = (entry: string) => {
    const found = Object.entries(meta.outputs).find(([, output]) => output.entryPoint === entry)
    if (found === undefined) throw new Error(`The build has no output for ${entry}.`)
    return found[0]
  }
  const script = outputOf(shell.script)
  const preload = [...loadedWith(script, meta)].filter((path) => path !== script).map((path) => basename(path))
  return { script: basename(script), styles: [basename(outputOf(shell.style))], preload, ...shared }
}

/** Writes the compressed copies of every file. @returns the sizes by name */
async function compressAll(folder: string): Promise<Record<string, FileSizes>> {
  const sizes: Record<string, FileSizes> = {}
  const compress = async (name: string) => {
    const content = readFileSync(join(folder, name))
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
    const [brotli, zipped] = await Promise.all([
      compressBrotli(content, { params }),
      compressGzip(content, { level: 9 }),
    ])
    writeFileSync(join(folder, `${name}.br`), brotli)
    writeFileSync(join(folder, `${name}.gz`), zipped)
    sizes[name] = { bytes: content.length, gzip: zipped.length, br: brotli.length }
  }
  await Promise.all(readdirSync(folder).sort().map(compress))
  return Object.fromEntries(Object.entries(sizes).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The sum of what is compared with each budget, in bytes of gzip. */
export function measure({ entries, sizes }: WebManifest): { name: string; bytes: number; budget: number }[] {
  const sum = (names: readonly string[]) => names.reduce((total, name) => total + sizes[name]!.gzip, 0)
  const first = new Set(Object.values(entries).flatMap(({ script, preload }) => [script, ...preload]))
  const later = Object.keys(sizes).filter((name) => name.endsWith('.js') && !first.has(name))
  return [
    ...Object.entries(entries).flatMap(([name, { script, styles, preload }]) => [
      { name: `first load of ${name}`, bytes: sum([script, ...preload]), budget: BUDGETS.script },
      { name: `style of ${name}`, bytes: sum(styles), budget: BUDGETS.style },
    ]),
    {
      name: 'icons',
      bytes: sum(Object.keys(sizes).filter((name) => name.startsWith('icons-'))),
      budget: BUDGETS.icons,
    },
    { name: 'largest later part', bytes: Math.max(0, ...later.map((name) => sum([name]))), budget: BUDGETS.part },
  ]
}

/** Puts a folder in the place of another one; of two builds at the same time, the later one stays. */
function replaceFolder(folder: string, made: string): void {
  const old = `${made}.old`
  try {
    renameSync(folder, old)
  } catch {
    // The first build, or another build has just moved it.
  }
  try {
    renameSync(made, folder)
  } catch {
    // Another build was faster, from the same sources.
    rmSync(made, { recursive: true, force: true })
  }
  rmSync(old, { recursive: true, force: true })
}

/** Bundles one shell by itself: a page loads nothing that only another shell needs. @returns what went into which file */
async function buildShell(shell: Shell, folder: string, define: Record<string, string>): Promise<Metafile> {
  const options: BuildOptions = { ...OPTIONS, outdir: folder, entryPoints: [shell.script, shell.style], define }
  const modules = await build({ ...options, write: false })
  const { metafile } = await build({ ...options, plugins: [undivided(shell, modules.metafile!)] })
  return metafile!
}

/**
 * Builds the pages. The folder is replaced when it is complete.
 * @throws Error what is wrong with a source, the first one
 */
export async function buildWeb(dist = join(ROOT, WEB_DIST)): Promise<WebManifest> {
  const made = `${dist}.${process.pid}`
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made, { recursive: true })
  const checksum = checksumOf(ROOT, webInputs(ROOT))
  const icons = writeIcons(made)
  const define = { ICON_FILE: JSON.stringify(`/assets/${icons}`), 'process.env.NODE_ENV': '"production"' }
  const read = (path: string) => readFileSync(join(WEB, path), 'utf8')
  const shared = {
    early: writeHashed(made, 'theme', '.js', read('src/look/theme.js')),
    icon: writeHashed(made, 'mark', '.svg', read('src/look/mark.svg')),
  }
  const built = await Promise.all(SHELLS.map((shell) => buildShell(shell, made, define)))
  const entries = Object.fromEntries(SHELLS.map((shell, index) => [shell.name, entryOf(shell, built[index]!, shared)]))
  const sizes = await compressAll(made)
  const version = createHash('sha256').update(Object.keys(sizes).join()).digest('hex').slice(0, 12)
  const manifest = { version, entries, sizes, checksum }
  writeFileSync(join(made, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`)
  replaceFolder(dist, made)
  return manifest
}

/** Prints the sizes. @returns whether all are within their budgets */
function report(manifest: WebManifest): boolean {
  const rows = measure(manifest)
  for (const { name, bytes, budget } of rows) {
    const sizes = `${(bytes / 1000).toFixed(1)} of ${budget / 1000} KB`.padStart(18)
    console.log(`${bytes <= budget ? '✔' : '✖'} ${sizes}  ${name} (gzip)`)
  }
  return rows.every(({ bytes, budget }) => bytes <= budget)
}

async function buildAndReport(): Promise<boolean> {
  const started = performance.now()
  const isWithin = report(await buildWeb())
  console.log(`web/dist made in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  return isWithin
}

/** Builds again after every change; a page that is reloaded has it. */
function watchSources(): void {
  let timer: NodeJS.Timeout | undefined
  const again = () => buildAndReport().catch((error: Error) => console.error(error.message))
  watch(join(WEB, 'src'), { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(again, 50)
  })
}

if (import.meta.main) {
  process.exitCode = (await buildAndReport()) ? 0 : 1
  if (process.argv.includes('--watch')) watchSources()
}
