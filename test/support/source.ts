// Facts about the sources of src for the tests of test/house: imports, literals, identifiers, types and functions, from the syntax tree.

import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import {
  isArrowFunction,
  isCallExpression,
  isClassDeclaration,
  isConstructorDeclaration,
  isEnumDeclaration,
  isExportAssignment,
  isExportDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isImportDeclaration,
  isImportTypeNode,
  isInterfaceDeclaration,
  isLiteralTypeNode,
  isMethodDeclaration,
  isNewExpression,
  isNumericLiteral,
  isPrivateIdentifier,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  isTypeAliasDeclaration,
  isVariableDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

/** The project folder. */
export const ROOT = join(import.meta.dirname, '../..')

interface SourceLine {
  /** 1 for the first line. */
  line: number
}

export interface Import extends SourceLine {
  /** As written. */
  specifier: string
  /** Path from the project folder when it is a file of the project. */
  file: string | null
  names: string[]
}

export interface Literal extends SourceLine {
  /** Content without quotes; `${}` stands for an inserted value of a template. */
  text: string
}

/** A call with a plain string as its first argument. */
export interface NamedCall extends SourceLine {
  callee: string
  argument: string
}

export interface FunctionSpan extends SourceLine {
  name: string
  lines: number
}

/** One file of src. */
export interface Source {
  /** Path from the project folder, such as `src/db/db.ts`. */
  path: string
  text: string
  lines: number
  imports: Import[]
  literals: Literal[]
  calls: NamedCall[]
  functions: FunctionSpan[]
  /** Every `a.b`, without calls and indexes. */
  accesses: (SourceLine & { name: string })[]
  /** Members written as `name: number`. */
  numbers: (SourceLine & { name: string; value: number })[]
  /** Every identifier, `#private` names included. */
  identifiers: (SourceLine & { name: string })[]
  /** Declared types, interfaces, classes and enums. */
  types: (SourceLine & { name: string; isExported: boolean })[]
  anyTypes: SourceLine[]
  defaultExports: SourceLine[]
}

let known: Source[] | undefined

/** Every TypeScript file below src, ordered by path. */
export function sources(): Source[] {
  known ??= readSources()
  return known
}

function readSources(): Source[] {
  const api = new API({ cwd: ROOT })
  try {
    const config = join(ROOT, 'tsconfig.json')
    const program = api.updateSnapshot({ openProjects: [config] }).getProject(config)!
    const files = program.rootFiles
      .filter((file) => relative(ROOT, file).startsWith('src/') && !file.endsWith('.d.ts'))
      .sort()
    return files.map((file) => read(file, program.program.getSourceFile(file)!))
  } finally {
    api.close()
  }
}

function read(file: string, tree: SourceFile): Source {
  const text = readFileSync(file, 'utf8')
  const source: Source = {
    path: relative(ROOT, file),
    text,
    lines: text.trimEnd().split('\n').length,
    imports: [],
    literals: [],
    calls: [],
    functions: [],
    accesses: [],
    numbers: [],
    identifiers: [],
    types: [],
    anyTypes: [],
    defaultExports: [],
  }
  const walk = (node: Node) => {
    note(source, tree, node)
    node.forEachChild(walk)
  }
  walk(tree)
  return source
}

function note(source: Source, tree: SourceFile, node: Node): void {
  const line = lineOf(tree, node.getStart(tree))
  noteImport(source, tree, node)
  if (node.kind === SyntaxKind.AnyKeyword) source.anyTypes.push({ line })
  if (isIdentifier(node) || isPrivateIdentifier(node)) source.identifiers.push({ line, name: node.text })
  noteType(source, node, line)
  if (isExportAssignment(node)) source.defaultExports.push({ line })
  if (isPropertyAccessExpression(node)) source.accesses.push({ line, name: node.getText(tree) })
  if (isPropertyAssignment(node) && isNumericLiteral(node.initializer)) {
    source.numbers.push({ line, name: node.name.getText(tree), value: Number(node.initializer.text) })
  }
  const text = literalText(node)
  if (text !== null) source.literals.push({ line, text })
  if (isCallExpression(node)) {
    const argument = node.arguments[0] && literalText(node.arguments[0])
    if (argument) source.calls.push({ line, callee: node.expression.getText(tree), argument })
  }
  const name = functionName(node, tree)
  if (name !== null) source.functions.push({ line, name, lines: lineOf(tree, node.end) - line + 1 })
  if (isFunctionDeclaration(node) && node.modifiers?.some((word) => word.kind === SyntaxKind.DefaultKeyword)) {
    source.defaultExports.push({ line })
  }
}

function noteType(source: Source, node: Node, line: number): void {
  const isType =
    isTypeAliasDeclaration(node) || isInterfaceDeclaration(node) || isClassDeclaration(node) || isEnumDeclaration(node)
  if (!isType || node.name === undefined) return
  const isExported = node.modifiers?.some((word) => word.kind === SyntaxKind.ExportKeyword) ?? false
  source.types.push({ line, name: node.name.text, isExported })
}

/** Imports, re-exports, `import()` and `new URL('./x.ts', import.meta.url)`: everything that makes one file need another. */
function noteImport(source: Source, tree: SourceFile, node: Node): void {
  const add = (specifier: string, names: string[]) => {
    const file = specifier.startsWith('.') ? join(dirname(source.path), specifier) : null
    source.imports.push({ line: lineOf(tree, node.getStart(tree)), specifier, file, names })
  }
  if ((isImportDeclaration(node) || isExportDeclaration(node)) && node.moduleSpecifier) {
    const clause = isImportDeclaration(node) ? node.importClause : node.exportClause
    add(literalText(node.moduleSpecifier) ?? '', clause ? (clause.getText(tree).match(/[\w$]+/g) ?? []) : [])
  }
  if (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword && node.arguments[0]) {
    add(literalText(node.arguments[0]) ?? '', [])
  }
  if (isImportTypeNode(node) && isLiteralTypeNode(node.argument)) add(literalText(node.argument.literal) ?? '', [])
  if (isNewExpression(node) && node.expression.getText(tree) === 'URL' && node.arguments?.length === 2) {
    const [first, second] = node.arguments
    if (second?.getText(tree) === 'import.meta.url') add(literalText(first!) ?? '', [])
  }
}

function literalText(node: Node): string | null {
  if (isStringLiteral(node)) return node.text
  if (node.kind === SyntaxKind.NoSubstitutionTemplateLiteral) return (node as unknown as { text: string }).text
  if (isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => `\${}${span.literal.text}`).join('')
  }
  return null
}

function functionName(node: Node, tree: SourceFile): string | null {
  if (isFunctionDeclaration(node) || isMethodDeclaration(node)) return node.name?.getText(tree) ?? 'a function'
  if (isConstructorDeclaration(node)) return 'constructor'
  if (isArrowFunction(node) || isFunctionExpression(node)) {
    const holder = node.parent
    const named = isVariableDeclaration(holder) || isPropertyAssignment(holder)
    return named && isIdentifier(holder.name) ? holder.name.text : 'a function'
  }
  return null
}

function lineOf(tree: SourceFile, position: number): number {
  return tree.getLineAndCharacterOfPosition(position).line + 1
}
