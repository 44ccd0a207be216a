import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { splitWords, toIndexedText, toMatchExpressions } from '../../../src/registry/search-words.ts'

const texts = [
  '提供北京和上海的天气预报',
  '翻译中文合同并检查法律条款',
  '预订酒店和机票，比较价格',
  '分析股票市场数据，生成图表',
  'GPT模型的代码审查助手',
  '将语音转换为文字，支持普通话',
  'Erstellt Wettervorhersagen für deutsche Städte',
  'Übersetzt große Verträge und prüft Rechtsfragen',
  'Bucht Hotels und Flüge, vergleicht Preise',
  'Warnt vor Unwettern und Straßensperren',
  'Wertet Aktienkurse aus und zeichnet Diagramme',
  'Artikel und Partys: plant Feiern aller Art',
]

/** What people type, and the texts that are about it. */
const queries: [language: 'zh' | 'de', query: string, relevant: number[]][] = [
  ['zh', '天气', [0]],
  ['zh', '天气预报', [0]],
  ['zh', '上海 天气', [0]],
  ['zh', '合同', [1]],
  ['zh', '法律', [1]],
  ['zh', '机票', [2]],
  ['zh', '股票市场', [3]],
  ['zh', '代码', [4]],
  ['zh', '模型', [4]],
  ['zh', '普通话', [5]],
  ['de', 'wettervorhersage', [6]],
  ['de', 'wetter', [6]],
  ['de', 'vorhersage', [6]],
  ['de', 'städte', [6]],
  ['de', 'stadte', [6]],
  ['de', 'übersetzt verträge', [7]],
  ['de', 'ubersetzt vertrage', [7]],
  ['de', 'GROSSE', [7]],
  ['de', 'flug', [8]],
  ['de', 'strassensperren', [9]],
  ['de', 'unwetter', [9]],
  ['de', 'aktien', [10]],
  ['de', 'art', [11]],
]

const plainWords = (query: string) => query.split(' ').map(word => `"${word}"*`)

const candidates = {
  trigram: { tokenize: 'trigram remove_diacritics 1', index: (text: string) => text, match: plainWords },
  unicode61: { tokenize: 'unicode61 remove_diacritics 2', index: (text: string) => text, match: plainWords },
  'unicode61, characters of unspaced scripts apart': {
    tokenize: "unicode61 remove_diacritics 2 categories 'L* N* Co M*'",
    index: toIndexedText,
    match: (query: string) => toMatchExpressions(splitWords(query)).slice(-1),
  },
}

/** Counts the queries of a language that find exactly the texts about them. */
const countExact = (name: keyof typeof candidates, language: 'zh' | 'de'): string => {
  const { tokenize, index, match } = candidates[name]
  const database = new DatabaseSync(':memory:')
  database.exec(`CREATE VIRTUAL TABLE t USING fts5(text, tokenize = "${tokenize}")`)
  const insert = database.prepare('INSERT INTO t (rowid, text) VALUES (?, ?)')
  for (const [number, text] of texts.entries()) insert.run(number, index(text))
  const select = database.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid')
  const own = queries.filter(([each]) => each === language)
  const exact = own.filter(
    ([, query, relevant]) =>
      JSON.stringify(select.all(match(query).join(' AND ')).map(({ rowid }) => rowid)) === JSON.stringify(relevant),
  )
  return `${exact.length} of ${own.length}`
}

// docs/storage.md has these figures.
it.each([
  ['trigram', '3 of 10', '10 of 13'],
  ['unicode61', '0 of 10', '10 of 13'],
  ['unicode61, characters of unspaced scripts apart', '10 of 10', '12 of 13'],
] as const)('%s finds what Chinese and German queries are about', (name, chinese, german) => {
  expect([countExact(name, 'zh'), countExact(name, 'de')]).toEqual([chinese, german])
})
