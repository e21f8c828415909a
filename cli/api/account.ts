import { userInfo } from 'node:os';

/** Who runs the command. A container may run it under a number without a name. */
export function account(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}

/** {@link account} as the audit log names it. */
export function actor(): string {
  return `command/${account()}`;
}
