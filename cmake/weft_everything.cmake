# weft::weft, which is every layer but weft::testing and what needs more than weft does: weft::store_mysql.
get_property(everything GLOBAL PROPERTY weft_layers)
list(REMOVE_ITEM everything testing store_mysql)
weft_layer_targets(everything ${everything})
add_library(weft INTERFACE)
add_library(weft::weft ALIAS weft)
target_link_libraries(weft INTERFACE ${everything})
