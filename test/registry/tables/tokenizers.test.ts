import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { splitWords, toIndexedText, toMatchExpressions } from '../../../src/registry/search-terms.ts'

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
const queries: [query: string, relevant: number][] = [
  ['天气', 0],
  ['天气预报', 0],
  ['上海 天气', 0],
  ['合同', 1],
  ['法律', 1],
  ['机票', 2],
  ['股票市场', 3],
  ['代码', 4],
  ['模型', 4],
  ['普通话', 5],
  ['wettervorhersage', 6],
  ['wetter', 6],
  ['vorhersage', 6],
  ['städte', 6],
  ['stadte', 6],
  ['übersetzt verträge', 7],
  ['ubersetzt vertrage', 7],
  ['GROSSE', 7],
  ['flug', 8],
  ['strassensperren', 9],
  ['unwetter', 9],
  ['aktien', 10],
  ['art', 11],
]

// docs/design/storage.md has these figures, and those of other tokenizers.
it('finds what Chinese and German queries are about, all but one', () => {
  const database = new DatabaseSync(':memory:')
  const tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
  database.exec(`CREATE VIRTUAL TABLE t USING fts5(text, tokenize = "${tokenize}")`)
  const insert = database.prepare('INSERT INTO t (rowid, text) VALUES (?, ?)')
  for (const [number, text] of texts.entries()) insert.run(number, toIndexedText(text))
  const select = database.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid')
  const find = (query: string) =>
    select.all(toMatchExpressions(splitWords(query)).at(-1) ?? '').map(({ rowid }) => rowid)
  const others = queries.filter(([query, ...relevant]) => JSON.stringify(find(query)) !== JSON.stringify(relevant))
  expect([queries.length, others]).toEqual([23, [['vorhersage', 6]]])
})
