# weft::weft, which is every layer but weft::testing.
get_property(everything GLOBAL PROPERTY weft_layers)
list(REMOVE_ITEM everything testing)
weft_layer_targets(everything ${everything})
add_library(weft INTERFACE)
add_library(weft::weft ALIAS weft)
target_link_libraries(weft INTERFACE ${everything})
