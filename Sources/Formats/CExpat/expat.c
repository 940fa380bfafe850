#include "cexpat.h"
#include "late.h"

#define FUNCTIONS(F) \
  F(const XML_LChar *, XML_ErrorString, (enum XML_Error code), (code)) \
  F(int, XML_GetCurrentByteCount, (XML_Parser parser), (parser)) \
  F(XML_Index, XML_GetCurrentByteIndex, (XML_Parser parser), (parser)) \
  F(enum XML_Error, XML_GetErrorCode, (XML_Parser parser), (parser)) \
  F(enum XML_Status, XML_Parse, (XML_Parser parser, const char *s, int len, int isFinal), (parser, s, len, isFinal)) \
  F(XML_Parser, XML_ParserCreate, (const XML_Char *encoding), (encoding)) \
  F(void, XML_ParserFree, (XML_Parser parser), (parser)) \
  F(void, XML_SetCharacterDataHandler, (XML_Parser parser, XML_CharacterDataHandler handler), (parser, handler)) \
  F(void, XML_SetCommentHandler, (XML_Parser parser, XML_CommentHandler handler), (parser, handler)) \
  F(void, XML_SetElementHandler, (XML_Parser parser, XML_StartElementHandler start, XML_EndElementHandler end), \
    (parser, start, end)) \
  F(void, XML_SetStartDoctypeDeclHandler, (XML_Parser parser, XML_StartDoctypeDeclHandler start), (parser, start)) \
  F(void, XML_SetUserData, (XML_Parser parser, void *userData), (parser, userData)) \
  F(enum XML_Status, XML_StopParser, (XML_Parser parser, XML_Bool resumable), (parser, resumable))

TEMBLOR_LATE_LIBRARY("libexpat.so.1", RTLD_LAZY, FUNCTIONS)

_Bool temblor_has_expat(void) { return temblor_has_library("libexpat.so.1"); }
