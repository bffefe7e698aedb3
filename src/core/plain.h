/* plain.h - make text from other users safe to print on a terminal */
#ifndef CORE_PLAIN_H
#define CORE_PLAIN_H

/*
 * Make text one line without control characters, in place: white space becomes
 * a blank, every other control character '?', including C1 encoded in UTF-8.
 */
void plain_text(char *text);

#endif
