// A file that imports both Testing and UIKit imports this module, too: the compiler looks for it by
// its name. On Apple's systems it attaches images to tests; here there are none.
