/** The levels by name; a record is written if its level is at least that of logger and handler. */
export const LogLevels = {
  NOTSET: 0,
  DEBUG: 10,
  INFO: 20,
  WARN: 30,
  ERROR: 40,
  CRITICAL: 50,
} as const;

/** A level as a number. */
export type LogLevel = typeof LogLevels[LevelName];

/** A level's name. */
export type LevelName = keyof typeof LogLevels;

/** Every level's name, lowest first. */
export const LogLevelNames: LevelName[] = Object.keys(LogLevels) as LevelName[];

const names = new Map<number, LevelName>(
  LogLevelNames.map((name) => [LogLevels[name], name]),
);

/**
 * The level of this name.
 *
 * @throws {Error} if there is none
 */
export function getLevelByName(name: LevelName): LogLevel {
  const level: LogLevel | undefined = Object.hasOwn(LogLevels, name) ? LogLevels[name] : undefined;
  if (level === undefined) throw new Error(`no level is called ${name}`);
  return level;
}

/**
 * The name of this level.
 *
 * @throws {Error} if there is none
 */
export function getLevelName(level: LogLevel): LevelName {
  const name = names.get(level);
  if (name === undefined) throw new Error(`no level has the number ${level}`);
  return name;
}
